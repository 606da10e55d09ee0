import { ConnectionError, ContractError, TimeoutError, type Download, type Transport } from "@shoal/transport";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { CommandSpec } from "./command-table.ts";
import { endpointOf } from "./endpoint.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Run } from "./program.ts";
import { showProgress } from "./progress.ts";
import { type FileFlags, isStandard, save, tell } from "./transfers.ts";
import { connect } from "./transport.ts";
import type { CommandRequest } from "./values.ts";

/** Tries of one chunk whose bytes do not come whole. */
const maxTries = 4;

/**
 * Downloads the whole audit log of a time, chunk after chunk: JSON lines, packed or not, may stand one behind the other. A chunk is handed
 * on when its SHA-256 is right, and asked for again when it did not come whole.
 */
export async function downloadAuditLog(spec: CommandSpec, request: CommandRequest, flags: FileFlags, run: Run): Promise<void> {
  const toScreen = isStandard(flags.file) && run.terminal.screen;
  if (toScreen && flags.file === undefined)
    throw new ExitError(exitCodes.usage.status, "An archive is nothing for a terminal.", "Name a file with -f, or send the output to a program.");
  const transport = connect(flags, run);
  const progress = showProgress(toScreen ? { ...run.terminal, progress: false } : run.terminal, "audit log");
  let rows = 0;
  let receivedBytes = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let cursor: string | undefined;
    do {
      const { bytes, headers } = await wholeChunk(
        spec,
        { ...request, query: { ...request.query, ...(cursor !== undefined && { cursor }) } },
        transport,
        run.signal,
      );
      yield bytes;
      rows += Number(headers.get("x-row-count") ?? 0);
      receivedBytes += bytes.byteLength;
      progress.update(receivedBytes, undefined);
      const next = headers.get("x-has-more") === "true" ? (headers.get("x-next-cursor") ?? undefined) : undefined;
      if (next === cursor) break;
      cursor = next;
    } while (cursor !== undefined);
  }
  try {
    if (isStandard(flags.file)) await pipeline(Readable.from(chunks()), run.terminal.stdout, { end: false, signal: run.signal });
    else {
      const saved = await save(Readable.from(chunks()), flags.file, run.signal);
      progress.stop();
      tell(run.terminal, flags, `${saved} It has ${String(rows)} entries.`);
    }
  } finally {
    progress.stop();
  }
}

/** A chunk whose bytes are those that were sent. @throws {ContractError} when they are others again and again. */
async function wholeChunk(
  spec: CommandSpec,
  request: CommandRequest,
  transport: Transport,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array; headers: Headers }> {
  for (let attempt = 1; ; attempt++) {
    try {
      // The transport repeats the request itself, as long as nothing has come.
      const found: Download | undefined = await transport.download(endpointOf(spec), request, { signal });
      if (found === undefined) return { bytes: new Uint8Array(), headers: new Headers() };
      const { headers, stream } = found;
      const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
      const sum = headers.get("x-content-sha256");
      if (sum === null || sum === createHash("sha256").update(bytes).digest("hex")) return { bytes, headers };
      if (attempt >= maxTries)
        throw new ContractError(
          `The answer to ${spec.operationId} does not fit the contract: headers.x-content-sha256: the bytes that came have another SHA-256.`,
          "headers.x-content-sha256",
        );
    } catch (error) {
      if (attempt >= maxTries || !(ConnectionError.isInstance(error) || TimeoutError.isInstance(error))) throw error;
    }
    await pause(125 * 2 ** attempt, undefined, { signal });
  }
}
