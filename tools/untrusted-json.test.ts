import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
/** Reads a whole stream, or parses JSON. */
const reads = /JSON\.parse\(|\.json\(\)|stream\/consumers|\.arrayBuffer\(\)/;

/**
 * Files of the service that read whole texts or parse JSON, and the authors of these. Bytes of an instance or a tenant must
 * be bounded in size and structure before: see `answerText`, `exceededJsonBound` and `ParsePool`.
 */
const readers = {
  "the service itself, in its database, its files, or signed": [
    "apps/server/src/deployed-apps/deployments/deployment-store.ts",
    "apps/server/src/deployed-apps/logs/chunk.ts",
    "apps/server/src/deployed-apps/registry/sdk-packages.ts",
    "apps/server/src/auth/connections/connections.ts",
    "apps/server/src/auth/credentials/secret-values.ts",
    "apps/server/src/auth/flows/flow-store.ts",
    "apps/server/src/auth/sign-in-links/link-tokens.ts",
    "apps/server/src/auth/logins/login-run.ts",
    "apps/server/src/auth/vaults/vault-keys.ts",
    "apps/server/src/config/admin-key.ts",
    "apps/server/src/config/version.ts",
    "apps/server/src/console/oidc/serve-oidc.ts",
    "apps/server/src/http/auth/own-requests.ts",
    "apps/server/src/http/idempotency/claim.ts",
    "apps/server/src/http/openapi.ts",
    "apps/server/src/resources/telemetry-destinations/destinations.ts",
    "apps/server/src/sessions/connect/connect-tickets.ts",
    "apps/server/src/sessions/downloads/kept-files.ts",
    "apps/server/src/sessions/evidence/stored-events.ts",
    "apps/server/src/sessions/network-recordings/frames.ts",
    "apps/server/src/sessions/replays/replay-files.ts",
    "apps/server/src/storage/backup/named-files.ts",
    "apps/server/src/storage/backup/restore-backup.ts",
    "apps/server/src/storage/blobs/sealed-stream.ts",
    "apps/server/src/storage/errors/invocation-limits.ts",
    "apps/server/src/storage/errors/session-limits.ts",
    "apps/server/src/storage/session-files/session-files.ts",
    "packages/placement/src/boxes/session-folders.ts",
    "packages/placement/src/sandbox/forkable/stored-processes.ts",
  ],
  "another server of the same database": [
    "apps/server/src/cluster/live-fields.ts",
    "apps/server/src/cluster/regions.ts",
    "apps/server/src/cluster/replica-routes.ts",
    "apps/server/src/cluster/replica-trust.ts",
  ],
  "the operator, or programs and services of the operator": [
    "apps/server/src/auth/providers/stores/google-secret-manager.ts",
    "packages/placement/src/chromium/packaged-chromium.ts",
    "packages/placement/src/container/engine.ts",
    "packages/placement/src/container/examine-image.ts",
    "packages/placement/src/image/image-report.ts",
    "packages/placement/src/kubernetes/cluster.ts",
    "packages/placement/src/kubernetes/examine-image.ts",
    "packages/placement/src/sandbox/sandboxed-process.ts",
    "packages/placement/src/sandbox/support.ts",
  ],
  "an instance or a box: bounded before": [
    "apps/server/src/deployed-apps/runtime/box-channel.ts",
    "apps/server/src/dialects/browserbase/logs.ts",
    "apps/server/src/sessions/instance-plane/debugging-port.ts",
    "apps/server/src/sessions/replays/start-recording.ts",
    "apps/server/src/sessions/telemetry/export/log-records.ts",
    "apps/server/src/storage/telemetry-files/history.ts",
    "packages/placement/src/instances/call-instance.ts",
    "packages/placement/src/instances/channel/instance-event.ts",
    "packages/placement/src/remote/announcement.ts",
    "packages/placement/src/streams/answer-text.ts",
  ],
  "a tenant, or a service that a tenant names: bounded before": [
    "apps/server/src/deployed-apps/registry/other-versions.ts",
    "apps/server/src/deployed-apps/runtime/build-tools.ts",
    "apps/server/src/deployed-apps/runtime/manifests.ts",
    "apps/server/src/sessions/flows/export/flow-file.ts",
    "apps/server/src/auth/providers/provider-http.ts",
    "apps/server/src/auth/vault-forms/serve-collect.ts",
    "apps/server/src/auth/vaults/passkey.ts",
    "apps/server/src/http/auth/session-path.ts",
    "apps/server/src/auth/providers/stores/login-values.ts",
    "apps/server/src/auth/providers/stores/onepassword.ts",
    "apps/server/src/resources/extensions/archive-rules.ts",
    "apps/server/src/resources/proxies/exit-address.ts",
    "apps/server/src/sessions/connect/launch-options.ts",
    "apps/server/src/sessions/instance-plane/secret-acts.ts",
    "apps/server/src/storage/archives/unpack-zip.ts",
    "apps/server/src/storage/parsing/search-answer.ts",
  ],
} as const;

it("knows for each file of the service that parses JSON whose bytes it reads", () => {
  const found = globSync(["apps/server/src/**/*.ts", "packages/placement/src/**/*.ts"], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    // Code of web pages, and of tests.
    .filter((path) => !/\.(?:test|slow)\.ts$|\/testing\/|\/(?:sign-in-page|vault-forms)\/page\//.test(path))
    .filter((path) => reads.test(readFileSync(join(root, path), "utf8")));
  expect(found.sort()).toEqual(Object.values(readers).flat().sort());
});
