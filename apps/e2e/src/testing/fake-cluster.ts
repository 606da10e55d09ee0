import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeHost, startFakeHost } from "./fake-host.ts";

export interface FakeCluster extends Pick<FakeHost, "end" | "names"> {
  readonly kubeconfig: string;
}

/** An API server of Kubernetes with agent-sandbox and the chart's warm pool without waiting pods, whose node runs pods as sandboxed processes of this machine. */
export async function startFakeCluster(): Promise<FakeCluster> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-cluster-"));
  const kubeconfig = join(folder, "kubeconfig");
  const host = await startFakeHost("fake-cluster-process.ts", kubeconfig);
  return {
    kubeconfig,
    names: () => host.names(),
    async end() {
      await host.end();
      rmSync(folder, { recursive: true });
    },
  };
}
