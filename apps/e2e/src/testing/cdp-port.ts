import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestService } from "./service.ts";

const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

export interface CdpPort extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly address: string;
}

export async function startCdpPort({ service }: TestService, sessionId: string): Promise<CdpPort> {
  const child = spawn(process.execPath, [command, "browsers", "cdp-port", sessionId, "--port", "0"], {
    env: { ...process.env, SHOAL_API_KEY: service.apiKey, SHOAL_BASE_URL: service.baseUrl },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [address] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    ended.then(([code]) =>
      Promise.reject(new Error(`shoal browsers cdp-port ended with ${String(code)} and printed no address.`)),
    ),
  ])) as [string];
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ended;
    },
  };
}
