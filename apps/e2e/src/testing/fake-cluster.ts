import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface FakeCluster {
  readonly kubeconfig: string;
  /** Names of its claims, sandboxes and pods. */
  names(): Promise<readonly string[]>;
  end(): Promise<void>;
}

const program = join(import.meta.dirname, "../../../../packages/placement/src/testing/fake-cluster-process.ts");

/** An API server of Kubernetes with agent-sandbox and the chart's warm pool without waiting pods, whose node runs pods as sandboxed processes of this machine. */
export async function startFakeCluster(): Promise<FakeCluster> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-cluster-"));
  const kubeconfig = join(folder, "kubeconfig");
  const child = spawn(process.execPath, ["--conditions=@shoal/source", program, kubeconfig], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const next = async (): Promise<readonly string[]> => {
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as readonly string[];
  };
  await next();
  return {
    kubeconfig,
    async names() {
      const answer = next();
      child.stdin.write("\n");
      return await answer;
    },
    async end() {
      const ended = once(child, "close");
      child.stdin.end();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
