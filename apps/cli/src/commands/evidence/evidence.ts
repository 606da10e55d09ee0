import type { EvidenceKey, EvidenceManifest } from "@shoal/schemas";
import { call } from "../../connection/call.ts";
import { currentSessionId } from "../../connection/current-session.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { download } from "../../operations/download.ts";
import { reasonOf } from "../../operations/local-errors.ts";
import { printable } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { plainSpec, printResult } from "../../output/print-result.ts";
import { formatBytes, showProgress } from "../../output/progress.ts";
import { BadBundle, checkBundle, type CheckedBundle, keyIdOf } from "./check-bundle.ts";

export interface EvidenceFlags extends GlobalFlags {
  readonly file?: string;
  /** Separated by commas. */
  readonly include?: string;
}

export interface VerifyFlags extends GlobalFlags {
  readonly key?: string;
  readonly output: OutputFormat;
}

export async function downloadEvidence(
  spec: CommandSpec,
  session: string | undefined,
  flags: EvidenceFlags,
  run: Run,
): Promise<void> {
  const id = currentSessionId(session, flags, run);
  const parts = flags.include?.split(",").map((part) => part.trim());
  const request = { params: { id }, query: { ...(parts && { include: parts }) }, body: undefined };
  await download({ spec, request, label: `${id}-evidence.zip` }, flags, run);
}

export async function verifyEvidence(spec: CommandSpec, archive: string, flags: VerifyFlags, run: Run): Promise<void> {
  if (flags.key !== undefined && !/^[\w-]{43}$/.test(flags.key))
    throw new UsageError("--key: 43 characters are needed, as public_key of shoal evidence-key get.");
  const { signal, terminal } = run;
  const progress = showProgress(terminal, "verifying");
  let read = 0;
  let checked: CheckedBundle;
  try {
    checked = await checkBundle(archive, {
      signal,
      trustedKey: async () => flags.key ?? (await keyOfService(spec, flags, run)),
      onBytes: (bytes, total) => {
        read += bytes;
        progress.update(read, total);
      },
    });
  } catch (error) {
    if (error instanceof BadBundle)
      throw new ExitError(exitCodes.error.status, `${printable(archive)} failed verification: ${error.message}.`);
    if (error instanceof Error && "syscall" in error)
      throw new ExitError(exitCodes.usage.status, `Cannot read ${archive}: ${reasonOf(error)}.`);
    throw error;
  } finally {
    progress.stop();
  }
  const { keyId, manifest, publicKey } = checked;
  const value = { valid: true, key_id: keyId, public_key: publicKey, ...summaryOf(manifest) };
  const printing = { terminal, format: flags.output, args: [], quiet: flags.quiet === true };
  await printResult(plainSpec, flags.output === "table" ? value : { ...value, manifest }, printing);
  for (const { reason, what } of flags.output === "table" ? manifest.left_out : [])
    notify(terminal, flags, `Not in it: ${printable(what)}. ${printable(reason)}`);
}

async function keyOfService(spec: CommandSpec, flags: VerifyFlags, run: Run): Promise<string> {
  const request = { params: {}, query: {}, body: undefined };
  const answer = await call(spec, request, flags, run);
  // The contract's type.
  const { key_id: id, public_key: key } = answer.value as EvidenceKey;
  if (keyIdOf(key) !== id) throw new ExitError(exitCodes.error.status, "The service answered an invalid key.");
  return key;
}

function summaryOf({ created_at, files, project_id, server_version, session }: EvidenceManifest) {
  return {
    session_id: session.session_id,
    session_name: session.name ?? undefined,
    project_id,
    created_at,
    session_ended_at: session.ended_at ?? undefined,
    server_version,
    files: files.length,
    size: formatBytes(files.reduce((sum, { size_bytes: size }) => sum + size, 0)),
  };
}
