import { examineHost } from "../examine-host.ts";
import type { PlacementKind } from "../interface/placement.ts";
import { describe } from "vitest";

const host = await examineHost();

/** Of a running engine with the image of the service; `npm run image:test` names it. */
export const testEngine = process.env.SHOAL_TEST_DOCKER_HOST;

const lacking = {
  chromium: host.chromium === undefined ? "no Chromium is installed" : undefined,
  bubblewrap: host.placement === "sandbox" ? undefined : "bubblewrap does not work here",
  linux: process.platform === "linux" ? undefined : "this is not Linux",
  engine: testEngine === undefined ? "npm run image:test starts one" : undefined,
  cluster: process.env.SHOAL_TEST_KUBERNETES === undefined ? "npm run kubernetes -- COMMAND starts one" : undefined,
  copies: host.findings.find(({ name }) => name === "forks")?.advice,
  root: process.getuid?.() === 0 ? undefined : "this is not root",
} as const;

const optional = ["root", "linux", "engine", "cluster", "copies"];

/** Skips with the reason in the name; fails instead if everything is required, except root, Linux, an engine, a cluster and CRIU. */
export function describeWith(needs: readonly (keyof typeof lacking)[], name: string, suite: () => void): void {
  const missing = needs.find((need) => lacking[need] !== undefined);
  const mayFail = process.env.SHOAL_REQUIRE_ALL === "1" && !optional.includes(missing ?? "root");
  if (missing === undefined || mayFail) describe(name, suite);
  else describe.skip(`${name} (needs ${missing}: ${lacking[missing] ?? ""})`, suite);
}

const kinds: readonly PlacementKind[] = ["sandbox", "process"];

/** What the tests of a placement need. */
export function needsOf(kind: PlacementKind): readonly (keyof typeof lacking)[] {
  if (kind === "docker") return ["engine", "linux", "root"];
  return kind === "sandbox" ? ["chromium", "bubblewrap"] : ["chromium"];
}

/**
 * The placements of this run: the first kind that works here, the other kind, or both (see CONTRIBUTING.md). With an
 * engine, only containers.
 */
export function testedKinds(): readonly PlacementKind[] {
  if (testEngine !== undefined) return ["docker"];
  const { SHOAL_REQUIRE_ALL: requireAll, SHOAL_TEST_VARIANTS: variants = "first" } = process.env;
  if (variants === "all") return kinds;
  const first = lacking.bubblewrap === undefined || requireAll === "1" ? "sandbox" : "process";
  return kinds.filter((kind) => (kind === first) === (variants === "first"));
}
