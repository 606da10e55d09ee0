import type { DockerOptions } from "@shoal/placement";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../../../../../..");
const program = join(root, "packages/placement/src/testing/fake-engine-process.ts");

/** A container engine with TLS, which runs containers as sandboxed processes of this machine. Ends after the test. */
export async function startRemoteEngine(): Promise<DockerOptions> {
  const tlsDir = await mkdtemp(join(tmpdir(), "shoal-engine-"));
  onTestFinished(() => rm(tlsDir, { recursive: true }));
  for (const [name, file] of [
    ["ca.pem", "localhost.pem"],
    ["cert.pem", "localhost.pem"],
    ["key.pem", "localhost.key"],
  ] as const)
    await copyFile(join(root, "tools/certificates", file), join(tlsDir, name));
  const child = spawn(process.execPath, ["--conditions=@shoal/source", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const ended = once(child, "close");
    child.stdin.end();
    await ended;
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { hosts: JSON.parse(line) as string[], image: "shoal", tlsDir };
}
