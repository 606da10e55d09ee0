import { FakeCluster } from "./fake-cluster.ts";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

// A fake cluster as a separate process, for tests of other packages. Its argument is the kubeconfig that it writes. It
// answers each line of its input with the names of its objects as JSON, and ends with its input.
const cluster = await FakeCluster.start({ claims: true });
cluster.hasPolicy = true;
writeFileSync(process.argv[2] ?? "", cluster.kubeconfig, { mode: 0o600 });
const lines = createInterface({ input: process.stdin });
const names = (): string =>
  JSON.stringify(
    (["sandboxclaims", "sandboxes", "pods"] as const)
      .flatMap((kind) => cluster.objects(kind))
      .map(({ metadata }) => metadata.name),
  );
process.stdout.write(`${names()}\n`);
for await (const _line of lines) process.stdout.write(`${names()}\n`);
await cluster.close();
