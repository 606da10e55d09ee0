import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { attachToPage, cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

describeChromium("the memory of the CDP gateway", (chromium) => {
  it("forwards messages of 32 MB in both directions and buffers only a fraction of them", async () => {
    await using instance = await runInstance({ chromium });
    const socket = await instance.connect();
    const client = cdpClient(socket);
    const sessionId = await attachToPage(client);
    const length = 32 * 2 ** 20;
    const large = JSON.stringify("x".repeat(length));
    const before = peakMegabytes(instance);
    for (let round = 0; round < 2; round++) {
      const up = await client.send(
        "Runtime.evaluate",
        { expression: `${large}.length`, returnByValue: true },
        sessionId,
      );
      expect(up).toHaveProperty("result.result.value", length);
      const down = (await client.send(
        "Runtime.evaluate",
        { expression: `"y".repeat(${String(length)})`, returnByValue: true },
        sessionId,
      )) as {
        result: { result: { value: string } };
      };
      expect(down.result.result.value.length).toBe(length);
    }
    // Of 128 MB; the rest is forwarded chunks that await garbage collection.
    expect(peakMegabytes(instance) - before).toBeLessThan(64);
  });

  it("applies backpressure to the browser when a client does not read", async () => {
    await using instance = await runInstance({ chromium });
    const socket = await instance.connect();
    const client = cdpClient(socket);
    const sessionId = await attachToPage(client);
    const before = peakMegabytes(instance);
    socket.pause();
    const expression = `"z".repeat(${String(16 * 2 ** 20)})`;
    const answers = Array.from({ length: 8 }, () =>
      client.send("Runtime.evaluate", { expression, returnByValue: true }, sessionId),
    );
    const other = cdpClient(await instance.connect());
    for (let i = 0; i < 50; i++) expect(await other.send("Browser.getVersion")).toHaveProperty("result");
    expect(peakMegabytes(instance) - before).toBeLessThan(48);
    socket.resume();
    expect(await Promise.all(answers)).toHaveLength(8);
  });
});

function peakMegabytes(instance: RunningInstance): number {
  if (process.platform !== "linux") return 0;
  const status = readFileSync(`/proc/${String(instance.process.pid)}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
