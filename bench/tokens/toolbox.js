/**
 * A toolbox of up to 100 tools of an ordinary size (about 150 tokens each), and twenty skills that name five of them
 * each.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../../dist/worker/toolbox/define-tool.js';
import { checkToolbox } from '../../dist/worker/toolbox/load-toolbox.js';

/** @typedef {(typeof areas)[number]} Area */
/** @typedef {{ name: string, args: Record<string, unknown> }} Call */

/** One skill each: what it is about, one of its ids, whom it belongs to, what states it has. */
const areas = [
  { one: 'invoice', many: 'invoices', id: 'INV-2041', of: 'customer', states: 'draft sent paid' },
  { one: 'shipment', many: 'shipments', id: 'SHP-77120', of: 'order', states: 'packed sent lost' },
  {
    one: 'ticket',
    many: 'tickets',
    id: 'SUP-5512',
    of: 'requester',
    states: 'open waiting solved',
  },
  {
    one: 'contract',
    many: 'contracts',
    id: 'CT-0093',
    of: 'supplier',
    states: 'draft signed ended',
  },
  {
    one: 'employee',
    many: 'employees',
    id: 'E10442',
    of: 'department',
    states: 'active leave left',
  },
  {
    one: 'candidate',
    many: 'candidates',
    id: 'CAN-318',
    of: 'vacancy',
    states: 'new invited hired',
  },
  { one: 'campaign', many: 'campaigns', id: 'CMP-24-07', of: 'brand', states: 'planned live over' },
  { one: 'lead', many: 'leads', id: 'LD-90011', of: 'region', states: 'cold warm won' },
  {
    one: 'warehouse',
    many: 'warehouses',
    id: 'WH-OSL-2',
    of: 'country',
    states: 'open full closed',
  },
  { one: 'refund', many: 'refunds', id: 'RF-6620', of: 'payment', states: 'asked granted refused' },
  {
    one: 'deployment',
    many: 'deployments',
    id: 'dep-8f31',
    of: 'service',
    states: 'queued live failed',
  },
  {
    one: 'incident',
    many: 'incidents',
    id: 'INC-1187',
    of: 'service',
    states: 'raised eased closed',
  },
  { one: 'vehicle', many: 'vehicles', id: 'VH-4471', of: 'depot', states: 'ready hired broken' },
  { one: 'booking', many: 'bookings', id: 'BK-20931', of: 'guest', states: 'held sure cancelled' },
  { one: 'course', many: 'courses', id: 'CRS-112', of: 'faculty', states: 'draft open full' },
  { one: 'sensor', many: 'sensors', id: 'sn-00a7', of: 'building', states: 'online silent faulty' },
  { one: 'recipe', many: 'recipes', id: 'RCP-508', of: 'kitchen', states: 'trial served retired' },
  { one: 'grant', many: 'grants', id: 'GR-2025-14', of: 'foundation', states: 'filed won lost' },
  { one: 'parcel', many: 'parcels', id: 'PL-3381-B', of: 'district', states: 'free leased sold' },
  { one: 'claim', many: 'claims', id: 'CLM-70455', of: 'policy', states: 'filed checked settled' },
];

const toolsPerSkill = 5;

/** Tools of the largest toolbox. */
export const mostTools = areas.length * toolsPerSkill;

const allTools = areas.flatMap(toolsOf);

/** The first tools of all, as a module of the operator would offer them. @param {number} size */
export function toolboxOf(size) {
  return checkToolbox('the benchmark', allTools.slice(0, size), []);
}

/** Names of the skills that a toolbox of this size has tools for. @param {number} size */
export function skillsFor(size) {
  return areas.slice(0, Math.ceil(size / toolsPerSkill)).map(skillName);
}

/** A call of each of a skill's first tools. @param {number} skill @param {number} count @returns {Call[]} */
export function callsOf(skill, count) {
  const area = areas[skill];
  if (area === undefined) throw new Error(`there is no skill ${skill}`);
  const { one, many, id, of } = area;
  const key = `${one}_id`;
  return [
    { name: `search_${many}`, args: { text: 'north', state: firstState(area), limit: 5 } },
    { name: `get_${one}`, args: { [key]: id, include: ['history'] } },
    { name: `create_${one}`, args: { [of]: 'north', title: 'Second of May', amount: 1250 } },
    { name: `update_${one}`, args: { [key]: id, state: firstState(area), note: 'As agreed.' } },
    { name: `summarize_${many}`, args: { from: '2025-05-01', to: '2025-05-31', group_by: of } },
  ].slice(0, count);
}

/** Writes all the skills into a skill root. @param {string} root */
export function writeSkills(root) {
  for (const area of areas) {
    mkdirSync(join(root, skillName(area)));
    writeFileSync(join(root, skillName(area), 'SKILL.md'), skillText(area));
  }
}

/** @param {Area} area */
function skillName({ one }) {
  return `${one}-desk`;
}

/** @param {Area} area */
function statesOf({ states }) {
  return states.split(' ');
}

/** @param {Area} area */
function firstState(area) {
  return statesOf(area)[0] ?? '';
}

/** @param {Area} area */
function toolsOf(area) {
  const { one, many, id, of } = area;
  const state = z.enum(statesOf(area));
  const key = { [`${one}_id`]: z.string().describe(`Id of the ${one}, such as ${id}`) };
  const answer = { id, state: firstState(area), [of]: 'north', amount: 1250, currency: 'EUR' };
  return [
    defineTool({
      name: `search_${many}`,
      description: `Search ${many} by text, state and ${of}. Returns the ids and titles of those that fit, newest first; call get_${one} for the rest of one.`,
      parameters: z.object({
        text: z.string().describe('Words that the title or the notes must hold'),
        state: state.optional().describe(`Only ${many} in this state`),
        [of]: z.string().optional().describe(`Only ${many} of this ${of}, by its exact name`),
        limit: z.int().min(1).max(100).default(20).describe('How many to return at most'),
      }),
      execute: () => [{ id, title: 'Second of May' }],
    }),
    defineTool({
      name: `get_${one}`,
      description: `Read one ${one} with its state, ${of}, amount, dates and notes. Ask for its history or its files only when they are needed: both can be long.`,
      parameters: z.object({
        ...key,
        include: z
          .array(z.enum(['history', 'files', 'notes', 'links']))
          .optional()
          .describe(`What to return beside the fields of the ${one} itself`),
        language: z.string().length(2).optional().describe('Two letters, such as en; default: en'),
      }),
      execute: () => ({ ...answer, history: [{ at: '2025-05-02T09:30:00Z', by: 'mira' }] }),
    }),
    defineTool({
      name: `create_${one}`,
      description: `Create a new ${one} for a ${of} that exists already. It begins in the state ${firstState(area)}. Returns the id of the new ${one}.`,
      parameters: z.object({
        [of]: z.string().describe(`Exact name of the ${of} that the ${one} belongs to`),
        title: z.string().max(200).describe('One line that tells a reader what it is about'),
        amount: z.number().min(0).optional().describe('Amount in EUR, without tax'),
        due: z.string().optional().describe('Last day, as YYYY-MM-DD; default: none'),
      }),
      execute: () => ({ id }),
    }),
    defineTool({
      name: `update_${one}`,
      description: `Change the state of one ${one}, or its title and due day. What is not given stays as it is. The change is written to its history under your note.`,
      parameters: z.object({
        ...key,
        state: state.optional().describe(`The new state of the ${one}`),
        title: z.string().max(200).optional().describe('The new title'),
        due: z.string().optional().describe('The new last day, as YYYY-MM-DD'),
        note: z.string().describe('Why it is changed, one sentence'),
      }),
      execute: () => answer,
    }),
    defineTool({
      name: `summarize_${many}`,
      description: `Count ${many} and sum up their amounts over a span of days, in groups. Use it for reports, rather than search_${many} and adding up yourself.`,
      parameters: z.object({
        from: z.string().describe('First day of the span, as YYYY-MM-DD'),
        to: z.string().describe('Last day of the span, as YYYY-MM-DD'),
        group_by: z.enum([of, 'state', 'month']).describe('What makes a group'),
        states: z.array(state).optional().describe('Only these states; default: all of them'),
      }),
      execute: () => [{ group: 'north', count: 12, amount: 18_400 }],
    }),
  ];
}

/** @param {Area} area */
function skillText(area) {
  const { one, many, of } = area;
  const names = toolsOf(area).map(({ name }) => `- ${name}`);
  return `---
name: ${skillName(area)}
description: Look up, create, change and report on ${many}. Use when the user asks about a ${one}, its ${of} or its state.
---

# ${skillName(area)}

Tools:
${names.join('\n')}

## Steps

1. Find the ${one} with search_${many}; ask the user when more than one fits.
2. Read it with get_${one} before you change anything: its state decides what may be done.
3. A ${one} goes through ${statesOf(area).join(', then ')}, and never back. Give each change a note.
4. Create a ${one} only when the search found none for the same ${of}.
5. Reports come from summarize_${many}; name the span of days in your answer.

Answer with the id, the state and the ${of} of each ${one} that you touched.
`;
}
