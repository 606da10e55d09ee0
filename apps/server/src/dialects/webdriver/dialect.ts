import { answerJson } from "@shoal/placement";
import { badInput } from "@shoal/router";
import type { IncomingHttpHeaders } from "node:http";
import { defineDialect, type SessionCommand } from "../kit/dialect.ts";
import * as contract from "./contract.ts";
import { SessionStarts } from "./create.ts";
import { downloadInJson, listDownloads } from "./downloads.ts";
import { errorBody, isCreation } from "./error-body.ts";

/** Bodies of Grid's own commands: a name. */
const maxBodyBytes = 65_536;

async function readDownload({ id, instance, request }: SessionCommand) {
  const body = await answerJson(request.raw, { bytes: maxBodyBytes }).catch(() => undefined);
  const name = typeof body === "object" && body !== null && "name" in body ? body.name : undefined;
  if (typeof name !== "string") throw badInput("body.name", "required (expected a string)");
  return downloadInJson(instance, id, name);
}

/**
 * Clients of Java send the key of their address only after this challenge. Pages do not get it: their browser would ask
 * the user for a key, store it, and add it to requests of other sites.
 */
function challenges(path: string, { origin }: IncomingHttpHeaders): readonly string[] {
  return isCreation(path) && origin === undefined ? ["Bearer", 'Basic realm="Shoal"'] : ["Bearer"];
}

/** W3C WebDriver, and the commands of Selenium Grid. */
export const webdriver = defineDialect({
  name: "webdriver",
  title: "WebDriver",
  ownPaths: /^(?:\/wd\/hub(?=[/?]|$)|(?=\/(?:session|status)(?:[/?]|$)))(.*)$/s,
  foreignSecrets: [],
  contract,
  files: {},
  // Capabilities are read by hand.
  unknownFields: "ignore",
  handlers(parts) {
    const starts = new SessionStarts(parts);
    return {
      newSession: async ({ body, context, signal }) => ({ value: await starts.start(context, body, signal) }),
    };
  },
  missing: [],
  documents: { "/status": { value: { ready: true, message: "The service creates sessions." } } },
  commands: {
    path: "/wd/session",
    ended: { value: null },
    answers: {
      "GET /se/files": async ({ id, instance }) => ({ value: await listDownloads(instance, id) }),
      "POST /se/files": readDownload,
      "POST /se/event": () => Promise.resolve({ value: null }),
    },
  },
  errorBody,
  challenges,
});
