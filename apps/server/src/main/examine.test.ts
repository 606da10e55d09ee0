import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examine, isolation, machineProxy } from "./examine.ts";

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

it.each([
  ["sandbox", "sandbox", "0.0.0.0", false, "ok"],
  ["auto", "sandbox", "0.0.0.0", false, "ok"],
  ["sandbox", "process", "127.0.0.1", true, "missing"],
  ["auto", "process", "127.0.0.1", false, "warning"],
  ["process", "sandbox", "127.0.0.1", false, "warning"],
  ["auto", "process", "0.0.0.0", false, "missing"],
  ["process", "sandbox", "0.0.0.0", false, "missing"],
  ["process", "process", "0.0.0.0", true, "warning"],
] as const)(
  "says for placement %s, possible %s, host %s, unsafe %s whether the service starts",
  (...[placement, possible, host, unsafe_no_isolation, state]) => {
    const found = isolation({ placement, host, unsafe_no_isolation }, possible);
    expect(found.state).toBe(state);
    expect(found.detail.startsWith("The service does not start")).toBe(state === "missing");
  },
);

it("names the setting for a proxy that only the environment names", () => {
  expect(machineProxy({ egress_proxy: undefined }, {})).toEqual([]);
  const env = { https_proxy: "http://user:secret@proxy.example:3128" };
  const [found] = machineProxy({ egress_proxy: undefined }, env);
  expect(found).toMatchObject({
    state: "warning",
    advice: expect.stringContaining('--egress-proxy "$https_proxy"') as unknown,
  });
  expect(JSON.stringify(found)).not.toContain("secret");
  expect(machineProxy({ egress_proxy: env.https_proxy }, env)).toMatchObject([{ state: "ok" }]);
});

it("examines the data folder: its kind, an unfinished restore, and its free space", async () => {
  const dataDir = async (path: string) =>
    (
      await examine({
        env: { SHOAL_PLACEMENT: "kubernetes", SHOAL_KUBERNETES_KUBECONFIG: "/missing", SHOAL_DATA_DIR: path },
      })
    ).find(({ name }) => name === "data_dir");
  expect((await dataDir(folder))?.detail).toMatch(/ is writable\. \d+\.\d GiB are free\.$/);
  const file = join(folder, "file");
  writeFileSync(file, "");
  expect(await dataDir(join(file))).toMatchObject({ state: "missing", detail: `${file} is not a folder.` });
  writeFileSync(join(folder, "restoring"), "");
  expect(await dataDir(folder)).toMatchObject({
    state: "missing",
    advice: expect.stringContaining("restore") as unknown,
  });
});
