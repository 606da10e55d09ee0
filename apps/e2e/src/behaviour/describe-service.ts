import { afterAll, beforeAll, describe } from "vitest";
import { describeApps } from "./apps.ts";
import { describeApiKeys } from "./api-keys.ts";
import { describeAuthConnections } from "./auth-connections.ts";
import { describeBrowsers } from "./browsers.ts";
import { describeCredentialProviders } from "./credential-providers.ts";
import { describeCredentials } from "./credentials.ts";
import { describeFileCalls } from "./file-calls.ts";
import { describeFiles } from "./files.ts";
import { describeForks } from "./forks.ts";
import type { Answer, OpenService, ServiceUnderTest } from "./open-service.ts";
import { describeProfiles } from "./profiles.ts";
import { describeProjects } from "./projects.ts";
import { describeRefusals } from "./refusals.ts";
import { describeRender } from "./render.ts";
import { describeWatches } from "./watches.ts";
import { describeWebhooks } from "./webhooks.ts";
import { describeWire } from "./wire.ts";

const areas = [
  describeWire,
  describeProfiles,
  describeCredentialProviders,
  describeCredentials,
  describeAuthConnections,
  describeApiKeys,
  describeProjects,
  describeBrowsers,
  describeForks,
  describeRender,
  describeFiles,
  describeFileCalls,
  describeWatches,
  describeApps,
  describeWebhooks,
  describeRefusals,
];

/** Behaviour of the service in each placement. @param open - called once for all tests. */
export function describeService(name: string, open: () => Promise<OpenService>): void {
  describe(name, () => {
    let running: OpenService | undefined;
    let names = 0;
    const present = (): OpenService => {
      if (running === undefined) throw new Error("The service runs inside tests only.");
      return running;
    };
    beforeAll(async () => {
      running = await open();
    });
    afterAll(async () => {
      await running?.close();
    });

    const test: ServiceUnderTest = {
      get shoal() {
        return present().shoal;
      },
      get apiKey() {
        return present().apiKey;
      },
      get baseUrl() {
        return present().baseUrl;
      },
      get enforcesPermissions() {
        return present().enforcesPermissions;
      },
      get hasBoxes() {
        return present().hasBoxes;
      },
      fetch: (input, init) => present().fetch(input, init),
      clientWith: (options) => present().clientWith(options),
      unique: (prefix) => `${prefix}-${String(names++)}`,
      async send(method, path, { body, headers = {} } = {}): Promise<Answer> {
        const { apiKey, baseUrl, fetch } = present();
        const answer = await fetch(baseUrl + path, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
          ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        });
        const text = await answer.text();
        const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
        return {
          status: answer.status,
          headers: answer.headers,
          body: text === "" ? undefined : isJson ? (JSON.parse(text) as unknown) : text,
        };
      },
    };
    for (const describeArea of areas) describeArea(test);
  });
}
