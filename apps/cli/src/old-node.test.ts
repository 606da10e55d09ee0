import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { oldNodeMessage } from "./old-node.ts";

it.each(["18.20.4", "22.21.0", "24.0.0", "24.8.9"])("refuses Node %s with the next step", (version) => {
  expect(oldNodeMessage(version)).toBe(
    `error: shoal needs Node 24.9 or newer; this is Node ${version}.\n  Install it from https://nodejs.org, or run ./shoal in a clone of Shoal, which fetches it.\n`,
  );
});

it.each(["24.9.0", "24.21.0", "25.0.0", process.versions.node])("accepts Node %s", (version) => {
  expect(oldNodeMessage(version)).toBeUndefined();
});

it("has the version of the package", () => {
  const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
    engines: { node: string };
  };
  const [, least = ""] = /^>=(\S+)$/.exec(engines.node) ?? [];
  expect(oldNodeMessage(`${least}.0`)).toBeUndefined();
  expect(oldNodeMessage("24.8.9")).toContain(`needs Node ${least} or newer`);
});
