import { FakeEngine } from "./fake-engine.ts";
import { instanceProgramPath } from "@shoal/instance";
import { createInterface } from "node:readline";

// A fake engine as a separate process, for tests of other packages. It prints its address, answers each line of its input
// with the names of its containers as JSON, and ends with its input.
const engine = await FakeEngine.start(instanceProgramPath);
process.stdout.write(`${JSON.stringify([engine.address])}\n`);
for await (const _line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify([...engine.containers.values()].map(({ name }) => name))}\n`);
await engine.close();
