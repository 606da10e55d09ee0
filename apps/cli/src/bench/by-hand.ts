import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenBrowser, Side } from "./types.ts";

const startMs = 30_000;
const flags = [
  "--headless",
  "--remote-debugging-port=0",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--no-default-browser-check",
  "--password-store=basic",
  "--window-size=1920,1080",
];

/** Starts Chromium without the service, each with an empty profile. */
export class ByHand implements Side {
  readonly #executable: string;
  readonly #running = new Set<OpenBrowser>();

  constructor(executable: string) {
    this.#executable = executable;
  }

  /** Starts a Chromium with an empty profile. */
  async open(): Promise<OpenBrowser> {
    const profile = await mkdtemp(join(tmpdir(), "shoal-bench-chromium-"));
    const child = spawn(
      this.#executable,
      [...flags, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), `--user-data-dir=${profile}`, "about:blank"],
      { stdio: ["ignore", "ignore", "pipe"], detached: true },
    );
    const browser: OpenBrowser = {
      cdpUrl: "",
      close: async () => {
        await end(child);
        await rm(profile, { recursive: true, force: true, maxRetries: 5 });
        this.#running.delete(browser);
      },
    };
    this.#running.add(browser);
    try {
      return Object.assign(browser, { cdpUrl: await endpointOf(child) });
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Ends browsers that an interrupted run left. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((browser) => browser.close()));
  }
}

function endpointOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => {
      reject(new Error(`Chromium did not start within ${String(startMs / 1000)} s.`));
    }, startMs);
    child.once("error", reject);
    child.once("exit", () => {
      reject(new Error(`Chromium ended at its start: ${output.slice(-500)}`));
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-10_000);
      const url = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  // Its group: pages are separate processes.
  process.kill(-child.pid, "SIGKILL");
  await ended;
}
