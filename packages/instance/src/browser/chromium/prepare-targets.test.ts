import { eventuallyPasses } from "@shoal/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { connectPipe } from "../cdp/pipe-connection.ts";
import { prepareTargets } from "./prepare-targets.ts";

describeChromium("preparations of targets", ({ executable }) => {
  it("report refused commands and failed scripts of open targets, with their types", async () => {
    const folder = mkdtempSync(join(tmpdir(), "shoal-prepare-"));
    const browser = spawn(
      executable,
      ["--headless", "--no-sandbox", "--remote-debugging-pipe=cbor", `--user-data-dir=${folder}`],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
    );
    const exited = once(browser, "exit");
    try {
      const cdp = connectPipe(browser.stdio[3] as Writable, browser.stdio[4] as Readable);
      const failures: string[] = [];
      const prepare = (sessionId: string, type: string) =>
        type === "worker"
          ? [
              cdp.send("Runtime.evaluate", { expression: "throw new TypeError('no clock')" }, sessionId),
              cdp.send("Runtime.evaluate", { expression: "1" }, sessionId),
            ]
          : [cdp.send("Runtime.getProperties", { objectId: "none" }, sessionId)];
      await prepareTargets(cdp, prepare, (type, error) => failures.push(`${type}: ${error.split("\n")[0] ?? ""}`));
      const script = "new Worker(URL.createObjectURL(new Blob(['setInterval(() => 1, 1000)'])))";
      await cdp.send("Target.createTarget", { url: `data:text/html,<script>window.worker = ${script}</script>` });
      await eventuallyPasses(() => {
        expect(new Set(failures)).toEqual(
          new Set(["page: Runtime.getProperties: Invalid remote object id", "worker: TypeError: no clock"]),
        );
      });
    } finally {
      browser.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});
