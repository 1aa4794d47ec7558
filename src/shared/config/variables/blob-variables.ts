import { z } from 'zod';
import { onOff, url } from '../env-values.js';
import { variable } from './variable.js';

const notEmpty = z.string().min(1, 'must not be empty');

/** A bucket for files over 256 KiB, in place of the data folder. */
export const blobVariables = {
  SKILLMILL_S3_BUCKET: variable({
    schema: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/, 'must be the name of a bucket'),
    description: 'Bucket of an S3 server for files over 256 KiB, in place of SKILLMILL_DATA_DIR',
  }),
  SKILLMILL_S3_ENDPOINT: variable({
    schema: url(['http:', 'https:']),
    description: 'S3 server (default: that of AWS in SKILLMILL_S3_REGION)',
  }),
  SKILLMILL_S3_REGION: variable({
    schema: notEmpty,
    default: 'us-east-1',
    description: 'Region of the bucket',
    aliases: ['AWS_REGION'],
  }),
  SKILLMILL_S3_PREFIX: variable({
    schema: z
      .string()
      .regex(/^([A-Za-z0-9._-]+\/)+$/, 'must be like skillmill/ or team/skillmill/'),
    default: 'skillmill/',
    description: 'What the name of every object begins with',
  }),
  SKILLMILL_S3_PATH_STYLE: variable({
    schema: onOff,
    description:
      '1 puts the bucket into the path, not into the host name (default: 1 with SKILLMILL_S3_ENDPOINT, else 0)',
  }),
  AWS_ACCESS_KEY_ID: variable({
    schema: notEmpty,
    description:
      'Key id for the bucket; when left out, the AWS client looks for a role or a profile itself',
  }),
  AWS_SECRET_ACCESS_KEY: variable({
    schema: notEmpty,
    secret: true,
    description: 'Key for the bucket',
  }),
  AWS_SESSION_TOKEN: variable({
    schema: notEmpty,
    secret: true,
    description: 'Token that temporary keys for the bucket come with',
  }),
} as const;
