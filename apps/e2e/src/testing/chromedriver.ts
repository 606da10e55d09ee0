import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Path in Debian's package `chromium-driver`. */
export const chromedriver = "/usr/bin/chromedriver";

export interface Chromedriver extends AsyncDisposable {
  readonly address: string;
}

export async function startChromedriver(): Promise<Chromedriver> {
  const child = spawn(chromedriver, ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const found = /started successfully on port (\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    ended.then(([code]) => {
      reject(new Error(`chromedriver ended with ${String(code)} before it was ready.`));
    }, reject);
  });
  return {
    address: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}
