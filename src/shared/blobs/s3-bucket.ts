import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { Readable } from 'node:stream';
import type { S3Config } from '../config/s3-config.js';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';

/** Bytes of one part of a large upload; two of them are in memory at a time. */
export const partBytes = 8 * 1024 * 1024;

/** An object as the server tells of it. */
export interface S3Object {
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
}

export type ListedObject = S3Object & { readonly key: string };

/** A bucket of an S3 server, in our own words: the only place that speaks to the AWS client. */
export interface S3Bucket {
  /** Puts an object that fits in memory, unless there is one; the server checks the bytes. */
  putNew(key: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /** Streams an object in parts, each checked by the server; it is there when the last part is. */
  upload(key: string, source: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Copies within the server, unless the target is there. */
  copyNew(from: string, to: string): Promise<void>;
  /** Makes an object as new, with its own bytes; false when there is none. */
  renew(key: string): Promise<boolean>;
  head(key: string): Promise<S3Object | undefined>;
  get(key: string): Promise<Readable | undefined>;
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Ends the uploads under a prefix that began before a time and never ended; says how many. */
  abortUploads(prefix: string, before: Date): Promise<number>;
  signedUrl(key: string, seconds: number): Promise<string>;
}

/** Opens a bucket; nothing is asked of the server yet. */
export function openS3Bucket(config: S3Config): S3Bucket {
  const client = makeClient(config);
  const Bucket = config.bucket;
  const call = <T>(step: Promise<T>) =>
    step.catch((error: unknown) => {
      throw unavailable(config, error);
    });
  const found = <T>(step: Promise<T>) => call(step.catch(ifMissing));
  const onlyNew = onlyNewCalls();

  return {
    async putNew(Key, Body, sha256) {
      const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
      const input = { Bucket, Key, Body, ChecksumSHA256 };
      await call(onlyNew((more) => client.send(new PutObjectCommand({ ...input, ...more }))));
    },
    upload: (Key, source, signal) => call(uploadParts({ client, Bucket, Key, source, signal })),
    async copyNew(from, to) {
      const input = { Bucket, Key: to, CopySource: `${Bucket}/${encodeURI(from)}` };
      await call(onlyNew((more) => client.send(new CopyObjectCommand({ ...input, ...more }))));
    },
    async renew(Key) {
      // S3 copies an object onto itself only when its metadata is set anew.
      const CopySource = `${Bucket}/${encodeURI(Key)}`;
      const input = { Bucket, Key, CopySource, MetadataDirective: 'REPLACE' } as const;
      return (await found(client.send(new CopyObjectCommand(input)))) !== undefined;
    },
    async head(Key) {
      const object = await found(client.send(new HeadObjectCommand({ Bucket, Key })));
      return object && objectOf(object.ContentLength, object.LastModified);
    },
    async get(Key) {
      const object = await found(client.send(new GetObjectCommand({ Bucket, Key })));
      if (object === undefined) return undefined;
      return Readable.from(readBody(object.Body, (error) => unavailable(config, error)));
    },
    async remove(Key) {
      await call(client.send(new DeleteObjectCommand({ Bucket, Key })));
    },
    list: (Prefix) => listObjects(client, { Bucket, Prefix }, call),
    abortUploads: (Prefix, before) => call(abortUploads(client, { Bucket, Prefix }, before)),
    signedUrl: (Key, expiresIn) =>
      call(getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), { expiresIn })),
  };
}

function makeClient(config: S3Config): S3Client {
  return new S3Client({
    region: config.region,
    forcePathStyle: config.pathStyle,
    ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 3000, requestTimeout: 60_000 },
    // Every body is bytes and is signed with its SHA-256, which any server checks; what AWS would add is not known to all.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

interface PartsUpload {
  readonly client: S3Client;
  readonly Bucket: string;
  readonly Key: string;
  readonly source: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal | undefined;
}

async function uploadParts({ client, Bucket, Key, source, signal }: PartsUpload): Promise<void> {
  const Body = Readable.from(source, { objectMode: true, highWaterMark: 1 });
  const params = { Bucket, Key, Body, ChecksumAlgorithm: 'SHA256' } as const;
  const upload = new Upload({ client, params, partSize: partBytes, queueSize: 2 });
  const abort = () => void upload.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await upload.done();
  } finally {
    signal?.removeEventListener('abort', abort);
    Body.destroy();
  }
}

type Condition = { IfNoneMatch?: string };

/** Calls that make only what is not there, by condition where the server knows conditions; else the caller has looked. */
function onlyNewCalls() {
  let conditions = true;
  return async (send: (condition: Condition) => Promise<unknown>): Promise<void> => {
    try {
      await send(conditions ? { IfNoneMatch: '*' } : {});
    } catch (error) {
      const status = statusOf(error);
      if (status === 412) return; // it is there
      // 409: somebody makes or removes it right now, and only another try tells.
      if ((status !== 501 && status !== 409) || !conditions) throw error;
      if (status === 501) conditions = false;
      await send(conditions ? { IfNoneMatch: '*' } : {}).catch((again: unknown) => {
        if (statusOf(again) !== 412) throw again;
      });
    }
  };
}

interface Place {
  readonly Bucket: string;
  readonly Prefix: string;
}

async function* listObjects(
  client: S3Client,
  place: Place,
  call: <T>(step: Promise<T>) => Promise<T>,
): AsyncGenerator<ListedObject> {
  let ContinuationToken: string | undefined;
  do {
    const page = await call(client.send(new ListObjectsV2Command({ ...place, ContinuationToken })));
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      if (Key !== undefined) yield { key: Key, ...objectOf(Size, LastModified) };
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}

async function abortUploads(client: S3Client, place: Place, before: Date): Promise<number> {
  let aborted = 0;
  let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (marker !== undefined) {
    const page: Awaited<ReturnType<typeof uploadsPage>> = await uploadsPage(client, place, marker);
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= before) continue;
      const input = { Bucket: place.Bucket, Key, UploadId };
      await client.send(new AbortMultipartUploadCommand(input)).catch(ifMissing);
      aborted += 1;
    }
    marker =
      page.IsTruncated === true && page.NextKeyMarker !== undefined
        ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker ?? '' }
        : undefined;
  }
  return aborted;
}

const uploadsPage = (
  client: S3Client,
  place: Place,
  marker: { KeyMarker?: string; UploadIdMarker?: string },
) => client.send(new ListMultipartUploadsCommand({ ...place, ...marker }));

function objectOf(sizeBytes: number | undefined, modifiedAt: Date | undefined): S3Object {
  // What has no date is as new: nobody collects it by mistake.
  return { sizeBytes: sizeBytes ?? 0, modifiedAt: modifiedAt ?? new Date() };
}

async function* readBody(
  body: unknown,
  fault: (error: unknown) => SkillmillError,
): AsyncGenerator<Uint8Array> {
  if (!(body instanceof Readable)) return;
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    throw fault(error);
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

function ifMissing(error: unknown): undefined {
  const noBucket = error instanceof S3ServiceException && error.name === 'NoSuchBucket';
  if (statusOf(error) !== 404 || noBucket) throw error;
}

function unavailable({ bucket, endpoint }: S3Config, cause: unknown): SkillmillError {
  if (cause instanceof SkillmillError) return cause;
  const where = `The bucket ${bucket} at ${endpoint ?? 'AWS'}`;
  const sentence = `${where} did not do what was asked (${errorMessage(cause)}). ${adviceFor(cause)}`;
  return new SkillmillError('BLOB_UNAVAILABLE', sentence, { cause });
}

function adviceFor(cause: unknown): string {
  const status = statusOf(cause);
  if (status === 403) return 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do.';
  if (status === 404) return 'Make the bucket, or set SKILLMILL_S3_BUCKET to one that is there.';
  return 'Check SKILLMILL_S3_ENDPOINT, SKILLMILL_S3_REGION and that the server runs.';
}
