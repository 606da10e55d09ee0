#!/usr/bin/env node
import { DatabaseError } from "@shoal/database";
import { createReadStream } from "node:fs";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Readable, Writable } from "node:stream";
import { makeBackup, makeBackupFile } from "../backup/make-backup.ts";
import { restoreBackup } from "../backup/restore-backup.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { createLog } from "../log.ts";
import { StartError } from "../start-error.ts";
import { version } from "../version.ts";

const help = `Usage: shoal-server <command>

Keeps what a Shoal service with an embedded database has. The service itself is run by \`shoal serve\`.

Commands:
  backup <file>    Save everything to a new file; - is the standard output. The service may run meanwhile.
  restore <file>   Fill an empty data folder from a backup; - is the standard input. The service must not run.

Settings:
  --data-dir <path>    The service's data folder. Also SHOAL_DATA_DIR.
  --blobs-dir <path>   Where its blobs lie, if not there. Also SHOAL_BLOBS_DIR.
  --config <path>      Config file of the service. Also SHOAL_CONFIG.
  --without-secrets    (backup) Leave secret.key and admin-key.json out. What is sealed with the secret, such as passwords of
                       proxies and saved profiles, can then only be read with that file, or with secret_key of the settings.
  -h, --help           Print help.
  --version            Print the version.

A backup holds the rows of the database as they are at one moment, the blobs, and unless told otherwise the secrets: whoever has it
has all of the service, so keep it as you keep a password, for example encrypted: shoal-server backup - | age -r KEY > shoal.backup.age.
Recordings (replays/) and telemetry (telemetry/) of sessions are files of their own in the data folder and not in it, nor is a bucket
(blob_store_url): copy that after the backup. Sessions that ran
have ended after a restore. A restore never writes over anything, and one that was broken off begins anew when it is run again.

Exit status: 0 done, 1 it failed, 2 it was called wrongly.
`;

/** The standard streams as the command sees them. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

const options = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
  config: { type: "string" },
  "data-dir": { type: "string" },
  "blobs-dir": { type: "string" },
  "without-secrets": { type: "boolean" },
} satisfies ParseArgsOptionsConfig;

function usage(message: string): StartError {
  return new StartError(message, { hint: "`shoal-server --help` tells how it is called.", exitCode: 2 });
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw usage(error instanceof Error ? `${error.message.split(". ", 1)[0] ?? ""}.` : String(error));
  }
}

function configOf(values: { readonly config?: string; readonly "data-dir"?: string; readonly "blobs-dir"?: string }, env: NodeJS.ProcessEnv): Config {
  const { config, "data-dir": dataDir, "blobs-dir": blobsDir } = values;
  return loadConfig({
    env,
    flags: {
      ...(config !== undefined && { config }),
      ...(dataDir !== undefined && { data_dir: dataDir }),
      ...(blobsDir !== undefined && { blobs_dir: blobsDir }),
    },
  });
}

async function perform(args: readonly string[], env: NodeJS.ProcessEnv, { stderr, stdin, stdout }: Streams): Promise<void> {
  const { positionals, values } = read(args);
  if (values.help === true) {
    stdout.write(help);
    return;
  }
  if (values.version === true) {
    stdout.write(`${version}\n`);
    return;
  }
  const [command, file, ...more] = positionals;
  if (command !== "backup" && command !== "restore")
    throw usage(command === undefined ? "A command is missing: backup or restore." : `There is no command ${command}.`);
  if (file === undefined || more.length > 0)
    throw usage(`${command} needs one file, or - for the standard ${command === "backup" ? "output" : "input"}.`);
  const config = configOf(values, env);
  const log = await createLog({ log_level: "warn", log_format: config.log_format });
  if (command === "backup") {
    const how = { secrets: values["without-secrets"] !== true, log };
    const report = file === "-" ? await makeBackup(config, stdout, how) : await makeBackupFile(config, file, how);
    stderr.write(
      `Saved ${String(report.rows)} rows and ${String(report.files)} files of ${config.data_dir}${how.secrets ? ", and its secrets: keep the backup as you keep a password" : ", without its secrets"}.\n`,
    );
    if (config.blob_store_url !== undefined)
      stderr.write("Extensions and saved profiles are not in it: they lie in the bucket of blob_store_url. Copy that after this.\n");
    if (report.missing > 0)
      stderr.write(`${String(report.missing)} files went meanwhile: what they belonged to was deleted after the backup began.\n`);
  } else {
    if (values["without-secrets"] === true) throw usage("--without-secrets belongs to backup.");
    const report = await restoreBackup(config, file === "-" ? stdin : createReadStream(file), log);
    stderr.write(
      `Restored ${String(report.rows)} rows and ${String(report.files)} files, as they were at ${report.manifest.created_at}, into ${config.data_dir}.\n`,
    );
    if (!report.secrets)
      stderr.write(
        "The backup has no secrets: put secret.key into that folder, or set secret_key, before the service starts; `shoal serve --new-admin-key` makes another admin key.\n",
      );
  }
}

/** Runs the command. @returns its exit status. */
export async function shoalServer(args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> {
  try {
    await perform(args, env, streams);
    return 0;
  } catch (error) {
    const known = StartError.isInstance(error) || DatabaseError.isInstance(error) ? error : undefined;
    streams.stderr.write(`shoal-server: ${error instanceof Error ? error.message : String(error)}\n${known === undefined ? "" : `${known.hint}\n`}`);
    return StartError.isInstance(error) ? error.exitCode : 1;
  }
}

if (import.meta.main) process.exitCode = await shoalServer(process.argv.slice(2), process.env, process);
