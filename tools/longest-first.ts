import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than 30 seconds on two processors, which their size does not show. The longest first. */
export const longFiles: readonly string[] = [
  "apps/e2e/src/console/every-page.slow.ts",
  "apps/e2e/src/logins/login-engine.slow.ts",
  "apps/e2e/src/profiles/profiles-state.slow.ts",
  "apps/server/src/main/drain.slow.ts",
  "apps/e2e/src/network/opening-proxy.slow.ts",
  "apps/e2e/src/apps/calls.slow.ts",
  "apps/cli/src/commands/service/bench/bench.slow.ts",
  "apps/e2e/src/sessions/processes.slow.ts",
  "apps/e2e/src/faults/orphans.slow.ts",
  "apps/e2e/src/logins/sign-in-page.slow.ts",
  "apps/e2e/src/faults/calls-cut-off.slow.ts",
  "apps/server/src/apps/runtime/vendor-sdk.slow.ts",
  "apps/e2e/src/files/watch.slow.ts",
  "apps/e2e/src/console/session-page.slow.ts",
  "apps/server/src/webhooks/deliveries.slow.ts",
  "packages/instance/src/operations/replays/replays.slow.ts",
  "apps/e2e/src/logins/sites.slow.ts",
  "apps/e2e/src/logins/health-checks.slow.ts",
  "apps/server/src/apps/invocations/killed-server.slow.ts",
  "apps/server/src/sessions/browsers/sleep.slow.ts",
  "packages/instance/src/operations/pages/outline/observe.slow.ts",
  "apps/e2e/src/console/operations.slow.ts",
  "apps/e2e/src/sessions/sleep.slow.ts",
  "apps/e2e/src/console/roles.slow.ts",
  "apps/server/src/main/database-silence.slow.ts",
  "apps/e2e/src/console/resources.slow.ts",
  "apps/e2e/src/contract/guide-with-browser.slow.ts",
  "apps/e2e/src/views/replays.slow.ts",
  "apps/server/src/apps/runtime/registry-builds.slow.ts",
  "apps/e2e/src/behaviour/behaviour-real.variants.test.ts",
  "apps/e2e/src/console/explorer.slow.ts",
  "packages/instance/src/clients/cdp/gateway.variants.test.ts",
  "apps/cli/src/commands/every-command.variants.test.ts",
];

/** Starts long files first, so that none runs alone at the end. Sorts the others as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const at = longFiles.indexOf(relative(project.vitest.config.root, moduleId));
      return at < 0 ? longFiles.length : at;
    };
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rank(a) - rank(b));
  }
}
