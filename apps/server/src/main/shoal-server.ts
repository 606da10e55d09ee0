#!/usr/bin/env node
import { messageOf } from "@shoal/primitives";
import { DatabaseError, lockFile } from "@shoal/database";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Readable, Writable } from "node:stream";
import { makeBackup, makeBackupFile } from "../storage/backup/make-backup.ts";
import { restoreBackup } from "../storage/backup/restore-backup.ts";
import { rewrapService } from "../storage/envelopes/rewrap-command.ts";
import { readIfPresent } from "../config/data-dir.ts";
import { loadConfig } from "../config/config.ts";
import type { Config } from "../config/settings.ts";
import { createLog } from "../log/log.ts";
import { StartError } from "../config/start-error.ts";
import { version } from "../config/version.ts";

const help = `Usage: shoal-server <command>

Backs up and restores a Shoal service with an embedded database, changes the key of stored secrets, and drains a server. Run the service
itself with \`shoal serve\`.

Commands:
  backup <file>    Save everything to a new file; - = stdout. The service may run.
  restore <file>   Fill an empty data folder from a backup; - = stdin. Stop the service first.
  drain            Let the server of the data folder start no more sessions, and serve the running ones. Stop it later.
  rewrap           Encrypt the data keys of stored secrets with the present master key. The service may run.

Settings:
  --data-dir <path>    Data folder of the service. Also SHOAL_DATA_DIR.
  --blobs-dir <path>   Folder of its blobs, if elsewhere. Also SHOAL_BLOBS_DIR.
  --config <path>      Config file of the service. Also SHOAL_CONFIG.
  --without-secrets    (backup) Omit secret.key and admin-key.json. Passwords of proxies and saved profiles then need
                       that file, or secret_key in the settings.
  -h, --help           Print help.
  --version            Print the version.

A backup contains a snapshot of the database, the blobs and, by default, the secrets. Anyone with a backup has full access
to the service: protect it like a password, for example with encryption: shoal-server backup - | age -r KEY > shoal.backup.age.
Recordings (replays/), telemetry (telemetry/) and downloads (downloads/) of the data folder and the bucket of blob_store_url are not included: copy
them after the backup. After a restore, sessions that were running are ended. A restore never overwrites data; after an
interruption, run it again.

To change the master key, give the service the new one (secret_key, or master_key and its settings) and the old one
(previous_secret_keys or previous_master_key_passphrases), restart it, and run rewrap with the same settings. After an
interruption, run it again. Then remove the old passphrase from the settings; older backups still need it. Keep an old
secret_key in previous_secret_keys while saved profiles and other files of its time exist.

Exit status: 0 success, 1 failure, 2 invalid usage.
`;

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
  return new StartError(message, { hint: "Run `shoal-server --help` for usage.", exitCode: 2 });
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw usage(`${messageOf(error).split(". ", 1)[0] ?? ""}.`);
  }
}

function configOf(
  values: { readonly config?: string; readonly "data-dir"?: string; readonly "blobs-dir"?: string },
  env: NodeJS.ProcessEnv,
): Config {
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

async function perform(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { stderr, stdin, stdout }: Streams,
): Promise<void> {
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
  if (command === "rewrap") {
    if (file !== undefined) throw usage("rewrap takes no arguments.");
    await rewrap(configOf(values, env), stderr);
    return;
  }
  if (command === "drain") {
    if (file !== undefined) throw usage("drain takes no arguments.");
    stderr.write(await drainServer(configOf(values, env).data_dir));
    return;
  }
  if (command !== "backup" && command !== "restore")
    throw usage(
      command === undefined ? "Missing command: backup, restore, drain or rewrap." : `Unknown command ${command}.`,
    );
  if (file === undefined || more.length > 0)
    throw usage(`${command} needs one file, or - for the standard ${command === "backup" ? "output" : "input"}.`);
  const config = configOf(values, env);
  const log = await createLog({ log_level: "warn", log_format: config.log_format });
  if (command === "backup") {
    const how = { secrets: values["without-secrets"] !== true, log };
    const report = file === "-" ? await makeBackup(config, stdout, how) : await makeBackupFile(config, file, how);
    stderr.write(
      `Saved ${String(report.rows)} rows and ${String(report.files)} files of ${config.data_dir}${how.secrets ? ", with secrets: protect the backup like a password" : ", without its secrets"}.\n`,
    );
    if (config.blob_store_url !== undefined)
      stderr.write("Extensions and profiles are not included: copy the bucket of blob_store_url afterwards.\n");
    if (report.missing > 0)
      stderr.write(`${String(report.missing)} files were skipped: they were deleted during the backup.\n`);
    if (report.absent > 0)
      stderr.write(
        `Warning: the backup lacks ${String(report.absent)} files that the database names, such as ${report.absentExample ?? ""}. If the service has another folder of blobs, make the backup again with --blobs-dir.\n`,
      );
  } else {
    if (values["without-secrets"] === true) throw usage("--without-secrets is only valid for backup.");
    const report = await restoreBackup(config, file === "-" ? stdin : createReadStream(file), log);
    stderr.write(
      `Restored ${String(report.rows)} rows and ${String(report.files)} files of ${report.manifest.created_at} into ${config.data_dir}.\n`,
    );
    if (!report.secrets)
      stderr.write(
        "The backup has no secrets: copy secret.key into that folder, or set secret_key, before you start the service. `shoal serve --new-admin-key` creates a new admin key.\n",
      );
  }
}

/** @returns a message. @throws {StartError} when no server runs. */
async function drainServer(dataDir: string): Promise<string> {
  const pid = Number(readIfPresent(join(dataDir, "server.pid"))?.trim());
  try {
    if (!(pid > 0)) throw new Error("The data folder has no server.pid.");
    // A killed server leaves its process id, which another program may have.
    const lock = await lockFile(join(dataDir, "server.lock"));
    lock?.release();
    if (lock !== undefined) throw new Error("No server has locked the folder.");
    process.kill(pid, "SIGUSR2");
  } catch (error) {
    throw new StartError(`No Shoal server of this user runs with the data folder ${dataDir}.`, {
      hint: "Name the folder with --data-dir or SHOAL_DATA_DIR, and run the command as the user of the service.",
      cause: error,
    });
  }
  return `Server ${String(pid)} drains: it starts no more sessions. GET /ready names the sessions that are left. Then stop the server.\n`;
}

async function rewrap(config: Config, stderr: Writable): Promise<void> {
  const log = await createLog({ log_level: "warn", log_format: config.log_format });
  const { failed, failures, rewrapped } = await rewrapService(config, log, (done, total) => {
    stderr.write(`${String(done)} of ${String(total)}\n`);
  });
  stderr.write(`Rewrapped ${String(rewrapped)} values.\n`);
  if (config.previous_secret_keys !== undefined)
    stderr.write(
      "Keep previous_secret_keys in the settings: saved profiles, snapshots, network recordings, kept downloads and files in the bucket that are older than the present secret_key need them.\n",
    );
  if (failed === 0) return;
  throw new StartError(`${String(failed)} values could not be rewrapped:\n${failures.join("\n")}`, {
    hint: "Add their master keys to previous_secret_keys or previous_master_key_passphrases, and run it again.",
  });
}

/** Returns the exit status. */
export async function shoalServer(args: readonly string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> {
  try {
    await perform(args, env, streams);
    return 0;
  } catch (error) {
    const known = StartError.isInstance(error) || DatabaseError.isInstance(error) ? error : undefined;
    streams.stderr.write(`shoal-server: ${messageOf(error)}\n${known === undefined ? "" : `${known.hint}\n`}`);
    return StartError.isInstance(error) ? error.exitCode : 1;
  }
}

if (import.meta.main) process.exitCode = await shoalServer(process.argv.slice(2), process.env, process);
