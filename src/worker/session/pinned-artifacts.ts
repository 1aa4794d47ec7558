import { z } from 'zod';

/** Beside DESIGN §4.4's fields: which version of an artifact the session has pinned, by name. */
const field = 'skill:pinned_artifacts';
const versionsByName = z.record(z.string(), z.int().min(0));

/** The versions that a session's pinned inputs keep to. */
export type ArtifactPins = Pick<Map<string, number>, 'get' | 'set' | 'entries'>;

/** What earlier turns of the session pinned. */
export function pinnedBefore(hash: Readonly<Record<string, string>>): ArtifactPins {
  return new Map(Object.entries(versionsByName.parse(JSON.parse(hash[field] ?? '{}'))));
}

/** The field that the next turn reads. */
export function toPinnedField(pins: ArtifactPins): Record<string, string> {
  const all = [...pins.entries()];
  return all.length === 0 ? {} : { [field]: JSON.stringify(Object.fromEntries(all)) };
}
