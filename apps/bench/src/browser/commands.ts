import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, percentile } from "../measuring/figures.ts";
import { descendants, residentBytes } from "../measuring/processes.ts";

const megabyte = 1024 * 1024;

/** The baseline in the box: the same work with node:child_process and the instance's Node. */
const spawnTrue = (count: number) => `
  const { spawn } = require("node:child_process");
  (async () => {
    const times = [];
    for (let i = 0; i < ${String(count)}; i++) {
      const began = performance.now();
      await new Promise((resolve) => {
        const child = spawn("true", [], { stdio: ["ignore", "pipe", "pipe"] });
        child.stdout.resume(); child.stderr.resume();
        child.on("close", resolve);
      });
      times.push(performance.now() - began);
    }
    console.log(JSON.stringify(times));
  })();`;
const readOutput = (bytes: number) => `
  const { spawn } = require("node:child_process");
  const began = performance.now();
  const child = spawn("head", ["-c", "${String(bytes)}", "/dev/zero"], { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  child.on("close", () => console.log(JSON.stringify([performance.now() - began])));`;

/** @param count - commands of each kind. @param streamedBytes - of the long output. */
export async function measureCommands(count: number, streamedBytes: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id } = await shoal.browsers.create();
    const { process: processes } = shoal.browsers;
    const instance = descendants(service.pid).find(({ command }) =>
      /^(?:\S*loader )?\S*node (?:--\S+ )*\S*\.cjs (?!--)/.test(command),
    );
    if (instance === undefined) throw new Error("The instance was not found among the service's processes.");
    const inBox = async (program: string) => {
      const { stdout, stderr } = await processes.run(session_id, {
        command: instance.command.split(" ")[0] ?? "",
        args: ["-e", program],
      });
      if (stdout === "") throw new Error(`The peer printed nothing: ${stderr}`);
      return JSON.parse(stdout) as number[];
    };

    for (let warmUp = 0; warmUp < 20; warmUp++) await processes.run(session_id, { command: "true" });
    const ours: number[] = [];
    const peer: number[] = [];
    // Alternate, so that a disturbance of the machine affects both.
    for (let round = 0; round < 5; round++) {
      for (let index = 0; index < count / 5; index++) {
        const began = performance.now();
        await processes.run(session_id, { command: "true" });
        ours.push(performance.now() - began);
      }
      peer.push(...(await inBox(spawnTrue(count / 5))));
    }
    const more = percentile(ours, 0.5) - percentile(peer, 0.5);

    let peak = 0;
    const before = residentBytes(instance.pid);
    const watching = setInterval(() => {
      peak = Math.max(peak, residentBytes(instance.pid));
    }, 50);
    const { process_id } = await processes.spawn(session_id, {
      command: "sh",
      args: ["-c", `read go; exec head -c ${String(streamedBytes)} /dev/zero`],
    });
    const began = performance.now();
    let received = 0;
    const reading = (async () => {
      for await (const piece of processes.output(session_id, process_id))
        if (piece.kind === "stdout") received += piece.bytes.length;
    })();
    await processes.write(session_id, process_id, "\n");
    await reading;
    const seconds = (performance.now() - began) / 1000;
    clearInterval(watching);
    if (received !== streamedBytes)
      throw new Error(`${String(streamedBytes - received)} bytes of the output were lost.`);
    const [bareMs = Number.NaN] = await inBox(readOutput(streamedBytes));
    const size = `${String(Math.round(streamedBytes / megabyte))} MB`;
    return [
      {
        name: "exec of true, p50",
        unit: "ms",
        ours: percentile(ours, 0.5),
        peer: percentile(peer, 0.5),
        peerName: "node:child_process in the box",
      },
      { name: "exec of true, p50: more than that", unit: "ms", ours: more, target: "<= 3" },
      {
        name: `output stream of ${size}, at the client`,
        unit: "MB/s",
        ours: streamedBytes / megabyte / seconds,
        peer: streamedBytes / megabyte / (bareMs / 1000),
        peerName: "node:child_process in the box",
      },
      {
        name: `instance's memory while it streams ${size} (RSS)`,
        unit: "MB",
        ours: peak / megabyte,
        peer: before / megabyte,
        peerName: "before",
      },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
