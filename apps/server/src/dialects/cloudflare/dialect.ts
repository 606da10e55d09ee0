import { defineDialect, type MissingOperation } from "../kit/dialect.ts";
import * as contract from "./contract.ts";
import { handlers } from "./rest.ts";

const missing: readonly MissingOperation[] = Object.entries({
  json: "This service asks no model for data of pages; read the page as Markdown, and ask your model.",
  "accessibility-tree": "This service has the tree as text; use outline of POST /render.",
  crawl: "This service does not crawl; call links and content for each page.",
  devtools: "Sessions have another interface here; use POST /browsers, or connect to the socket of this service.",
}).map(([name, reason]) => ({ path: `/accounts/:account_id/browser-rendering/${name}`, reason }));

export const cloudflare = defineDialect({
  name: "cloudflare",
  title: "Cloudflare Browser Rendering",
  // Of clients with apiKey and apiEmail; those with apiToken send Authorization.
  keyHeader: "x-auth-key",
  rootPath: "/cloudflare/",
  projectHeader: "x-shoal-project",
  foreignSecrets: ["x-auth-user-service-key"],
  contract,
  files: {},
  handlers,
  missing,
  errorBody: ({ message }, code) => ({ success: false, errors: [{ code, message }], messages: [], result: null }),
});
