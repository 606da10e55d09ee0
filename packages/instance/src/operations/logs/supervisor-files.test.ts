import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileSystemHandlers } from "../fs/handlers.ts";
import { withSupervisorFiles } from "./supervisor-files.ts";
import { createSupervisorLogs } from "./supervisor-logs.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "shoal-logs-"));
});
afterAll(() => rm(directory, { recursive: true }));

it("reads the output of the session's processes at its usual path", async () => {
  const logs = createSupervisorLogs();
  const readFile = withSupervisorFiles(fileSystemHandlers({ directory, home: "/" }).readFile, logs);
  const read = async (path: string) => {
    // Handlers of files use the query alone.
    const reply = await readFile({ query: { path } } as Parameters<typeof readFile>[0]);
    return text((reply as { stream: NodeJS.ReadableStream }).stream as never);
  };
  expect(await read("/var/log/supervisord/chromium")).toBe("");
  logs.add("chromium", "one");
  logs.add("instance", "other");
  logs.add("chromium", "zwei ü");
  expect(await read("/var/log/supervisord/chromium")).toBe("one\nzwei ü\n");
  expect(await read("/var/log/supervisord/instance")).toBe("other\n");
  for (const path of ["/var/log/supervisord/xvfb", "/var/log/supervisord", "/var/log/supervisord/chromium/x"])
    await expect(read(path)).rejects.toMatchObject({ status: 404 });
  await mkdir(join(directory, "var/log/supervisord"), { recursive: true });
  await writeFile(join(directory, "var/log/supervisord/chromium"), "a file of the session");
  expect(await read("/var/log/supervisord/chromium")).toBe("a file of the session");
});
