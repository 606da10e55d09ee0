import type { readFile } from "@shoal/contract";
import { type Handler, ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import { readSupervisorLog } from "./handlers.ts";
import { type SupervisorLogs, supervisorProcesses } from "./supervisor-logs.ts";

/** Where other services of this contract have the output of the session's processes. */
const folder = "/var/log/supervisord";

/** Reads the logs at their usual paths too, unless the session has files there. */
export function withSupervisorFiles(
  readStored: Handler<typeof readFile, unknown>,
  logs: SupervisorLogs,
): Handler<typeof readFile, unknown> {
  return async (call) => {
    try {
      return await readStored(call);
    } catch (error) {
      const process = supervisorProcesses.find((name) => call.query.path === `${folder}/${name}`);
      if (process === undefined || !ServiceError.isInstance(error) || error.status !== 404) throw error;
      const lines: string[] = [];
      const frames = readSupervisorLog(logs, process, { follow: false, lastEventId: undefined });
      for (let step = await frames.next(); step.done !== true; step = await frames.next())
        if ("data" in step.value) lines.push(`${step.value.data.message}\n`);
      const content = Buffer.from(lines.join(""));
      return {
        stream: Readable.from(content.length === 0 ? [] : [content], { objectMode: false }),
        sizeBytes: content.length,
        fileName: process,
      };
    }
  };
}
