import * as z from "zod/mini";
import { s3AddressProblem } from "../s3-address.ts";
import { defaultDataDir } from "./defaults.ts";
import { optionalSetting, setting, text } from "./setting.ts";

const storeUrl = text.check(
  z.refine((value) => s3AddressProblem(value) === undefined, {
    error: ({ input }) => s3AddressProblem(String(input)) ?? "",
  }),
);

const postgresUrl = text.check(
  z.refine(
    (value) => URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol),
    "must be a postgres:// address",
  ),
);

export const storage = {
  data_dir: setting({
    kind: "path",
    schema: text,
    summary: "Folder of the embedded database, the secret, the admin key and running sessions.",
    fallback: defaultDataDir,
    default: "the system's folder for application data",
  }),
  blobs_dir: optionalSetting({
    kind: "path",
    schema: text,
    summary: "Folder of uploaded extensions and saved profiles. Replicas share it.",
    default: "data_dir/blobs",
  }),
  blob_store_url: optionalSetting({
    schema: storeUrl,
    summary:
      "S3-compatible store for them instead, and for the files of ended sessions: s3://key:secret@host:port/bucket/prefix?region=eu-central-1, and &tls=false for one without TLS. The same on every replica.",
    default: "none, files",
    secret: true,
  }),
  blob_store_access_key: optionalSetting({
    schema: text,
    summary:
      "Access key of the store, when its URL has none. Without either, the service uses AWS_ACCESS_KEY_ID and the other AWS_ variables, the AWS profile, or the role of this machine.",
    default: "none",
  }),
  blob_store_secret_key: optionalSetting({
    schema: text,
    summary: "Secret of blob_store_access_key.",
    default: "none",
    secret: true,
  }),
  database_url: optionalSetting({
    schema: postgresUrl,
    summary: "PostgreSQL 14 or later to use instead of the embedded one.",
    default: "embedded PostgreSQL in data_dir",
    env: ["DATABASE_URL"],
    secret: true,
  }),
};
