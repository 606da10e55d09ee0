import { createPlacement } from "@shoal/placement";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { BuildError } from "./app-runtime.ts";
import { BoxTasks } from "./box-tasks.ts";

/** Sends the same file again and again, as code of an app could. */
const builder = `
const frame = (kind, content) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length);
  head.writeUInt8(kind, 4);
  return Buffer.concat([head, content]);
};
const message = (value) => frame(1, Buffer.from(JSON.stringify(value)));
const file = [message({ type: "file", name: "artifact" }), frame(3, Buffer.from("content")), message({ type: "file_end" })];
const socket = new (require("node:net").Socket)({ fd: Number(process.argv[2]) });
socket.end(Buffer.concat([...file, ...file, message({ type: "done" })]));
`;

it("stores each file of a build once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-tasks-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const programs = join(folder, "programs");
  await mkdir(programs, { mode: 0o755 });
  await writeFile(join(programs, "builder.cjs"), builder, { mode: 0o644 });
  const silent = () => undefined;
  const placement = await createPlacement({
    kind: "sandbox",
    sessionsDir: join(folder, "sessions"),
    warm: 0,
    allowPrivateHosts: [],
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  onTestFinished(() => placement.close());
  const stored: string[] = [];
  const running = new BoxTasks(placement, programs).run(
    {
      program: {
        project: "",
        readOnly: [],
        writable: [],
        scratch: [],
        folder: "/tmp",
        reach: [],
        memoryBytes: 256 * 2 ** 20,
        diskBytes: 16 * 2 ** 20,
        maxProcesses: 64,
      },
      task: () => ({ type: "unpack", archive: "", to: "", max_bytes: 1, max_files: 1 }),
      files: {
        artifact: async (content: Readable) => stored.push(Buffer.concat(await content.toArray()).toString()),
      },
    },
    new AbortController().signal,
  );
  await expect(running).rejects.toBeInstanceOf(BuildError);
  expect(stored).toEqual(["content"]);
});
