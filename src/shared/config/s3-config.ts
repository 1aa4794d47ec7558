import { SkillmillError } from '../errors/skillmill-error.js';
import type { Environment } from './env-schema.js';

/** A bucket, and how to reach it. */
export interface S3Config {
  readonly bucket: string;
  /** Undefined: AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly pathStyle: boolean;
  /** Undefined: what the AWS client finds itself, such as a role. */
  readonly credentials:
    | {
        readonly accessKeyId: string;
        readonly secretAccessKey: string;
        readonly sessionToken?: string;
      }
    | undefined;
}

/** The bucket of this environment, if it names one. @throws SkillmillError CONFIG_INVALID */
export function s3Slice(env: Environment): S3Config | undefined {
  if (env.SKILLMILL_S3_BUCKET === undefined) return undefined;
  return {
    bucket: env.SKILLMILL_S3_BUCKET,
    endpoint: env.SKILLMILL_S3_ENDPOINT,
    region: env.SKILLMILL_S3_REGION,
    prefix: env.SKILLMILL_S3_PREFIX,
    pathStyle: env.SKILLMILL_S3_PATH_STYLE ?? env.SKILLMILL_S3_ENDPOINT !== undefined,
    credentials: s3Credentials(env),
  };
}

function s3Credentials(env: Environment): S3Config['credentials'] {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new SkillmillError(
      'CONFIG_INVALID',
      'Wrong settings: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together; set both or none.',
    );
  }
  const token = env.AWS_SESSION_TOKEN;
  return { accessKeyId, secretAccessKey, ...(token === undefined ? {} : { sessionToken: token }) };
}
