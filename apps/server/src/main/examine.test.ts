import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examine } from "./examine.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-examine-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it.each([
  ["pods", { SHOAL_PLACEMENT: "kubernetes", SHOAL_KUBERNETES_KUBECONFIG: "/missing" }],
  ["engines on other machines", { SHOAL_PLACEMENT: "docker", SHOAL_DOCKER_HOST: "tcp://127.0.0.1:1" }],
])("does not compare the browsers that wait in %s with the memory of this machine", async (_, env) => {
  const findings = await examine({ env: { ...env, SHOAL_DATA_DIR: folder, SHOAL_WARM: "100" } });
  expect(findings).toContainEqual({
    ...{ name: "warm", state: "ok" },
    detail: "100 browsers wait for sessions (warm), not in the memory of this machine.",
  });
});
