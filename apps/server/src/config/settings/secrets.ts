import { checked } from "@shoal/schemas";
import * as z from "zod/mini";
import { optionalSetting, setting, text } from "./setting.ts";

const secretKey = text.check(z.minLength(32, "must have at least 32 characters"));
const passphrase = text.check(z.minLength(12, "must have at least 12 characters"));

export const secrets = {
  secret_key: optionalSetting({
    schema: secretKey,
    summary: "Secret behind session tokens and stored answers, 32 characters or more; the same on every replica.",
    default: "created at the first start, in data_dir/secret.key",
    secret: true,
  }),
  master_key: setting({
    schema: z.enum(["secret_key", "passphrase", "module"]),
    summary:
      "Source of the master key that encrypts the data keys of stored secrets: secret_key, passphrase (master_key_passphrase) or module (master_key_module). The same on every replica.",
    fallback: "secret_key",
  }),
  master_key_passphrase: optionalSetting({
    schema: passphrase,
    summary: "Passphrase that the master key is derived from, 12 characters or more.",
    default: "none",
    secret: true,
  }),
  master_key_module: optionalSetting({
    kind: "path",
    schema: text,
    summary: "ES module that wraps data keys, for example with a key management service.",
    default: "none",
  }),
  previous_secret_keys: optionalSetting({
    schema: checked(z.array(secretKey), z.maxLength(20)),
    summary:
      "Earlier values of secret_key. Stored secrets need them until `shoal-server rewrap` has encrypted them again; saved profiles, snapshots, network recordings, kept downloads and files in the bucket until they are deleted.",
    default: "none",
    secret: true,
  }),
  previous_master_key_passphrases: optionalSetting({
    schema: checked(z.array(passphrase), z.maxLength(20)),
    summary:
      "Earlier values of master_key_passphrase, to read stored secrets until `shoal-server rewrap` has encrypted them again. A passphrase with a comma needs the config file.",
    default: "none",
    secret: true,
  }),
};
