import { ConnectionError, ContractError, TimeoutError, type Download, type Transport } from "@shoal/transport";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { CommandRequest, CommandSpec, Run } from "../core/types.ts";
import { endpointOf } from "../connection/endpoint.ts";
import { showProgress } from "../output/progress.ts";
import { type FileFlags, isStandard, refuseTerminal, save } from "./download.ts";
import { notify } from "../output/output.ts";
import { connect } from "../connection/transport.ts";

const maxTries = 4;

/** Downloads a period in chunks, which can be concatenated. Verifies each SHA-256, and repeats incomplete chunks. */
export async function downloadAuditLog(
  spec: CommandSpec,
  request: CommandRequest,
  flags: FileFlags,
  run: Run,
): Promise<void> {
  const toScreen = isStandard(flags.file) && run.terminal.screen;
  if (toScreen && flags.file === undefined) throw refuseTerminal();
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
    if (isStandard(flags.file))
      await pipeline(Readable.from(chunks()), run.terminal.stdout, { end: false, signal: run.signal });
    else {
      const saved = await save(Readable.from(chunks()), flags.file, run.signal);
      progress.stop();
      notify(run.terminal, flags, `${saved} It has ${String(rows)} entries.`);
    }
  } finally {
    progress.stop();
  }
}

/** @throws {ContractError} if the checksum differs in every attempt. */
async function wholeChunk(
  spec: CommandSpec,
  request: CommandRequest,
  transport: Transport,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array; headers: Headers }> {
  for (let attempt = 1; ; attempt++) {
    try {
      // The transport retries requests only until the first byte of the answer.
      const found: Download | undefined = await transport.download(endpointOf(spec), request, { signal });
      if (found === undefined) return { bytes: new Uint8Array(), headers: new Headers() };
      const { headers, stream } = found;
      const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
      const sum = headers.get("x-content-sha256");
      if (sum === null || sum === createHash("sha256").update(bytes).digest("hex")) return { bytes, headers };
      if (attempt >= maxTries)
        throw new ContractError(
          `The answer to ${spec.operationId} does not fit the contract: headers.x-content-sha256: the SHA-256 of the received bytes differs.`,
          "headers.x-content-sha256",
        );
    } catch (error) {
      if (attempt >= maxTries || !(ConnectionError.isInstance(error) || TimeoutError.isInstance(error))) throw error;
    }
    await pause(125 * 2 ** attempt, undefined, { signal });
  }
}
