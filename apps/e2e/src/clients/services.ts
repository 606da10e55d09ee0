import { addressIn, type Door, npm, pip } from "./client.ts";

const dialects = "apps/e2e/src/dialects";

export const browserbase: Door = {
  name: "Browserbase",
  page: "guide/from-browserbase.md",
  dialect: "browserbase",
  clients: [
    {
      name: "@browserbasehq/sdk",
      language: "Node.js",
      versions: [npm("@browserbasehq/sdk")],
      change: "`BROWSERBASE_BASE_URL=https://shoal.example/browserbase` and `BROWSERBASE_API_KEY`",
      tests: {
        [`${dialects}/browserbase.slow.ts`]: [
          "the SDK",
          "a socket of the service takes the key and the session in its address",
        ],
      },
      flow: "sessions, contexts, uploads, downloads, logs, recordings, debug, refusals",
      limits: "[Refused fields and operations](guide/from-browserbase.md#refusals) answer 400 or 501.",
      code: `import Browserbase from "@browserbasehq/sdk";

const browserbase = new Browserbase({ apiKey: process.env.SHOAL_API_KEY, baseURL: "SERVICE_URL/browserbase" });
const session = await browserbase.sessions.retrieve("SESSION_ID");
const { debuggerFullscreenUrl } = await browserbase.sessions.debug(session.id);`,
    },
    {
      name: "browserbase",
      language: "Python",
      versions: [pip("browserbase")],
      change: "the same variables",
      tests: { [`${dialects}/browserbase-python.slow.ts`]: ["finds that every answer fits its types"] },
      flow: "sessions, contexts, uploads, downloads, projects, with strict validation",
      limits: "The same.",
      code: `import os
from browserbase import Browserbase

browserbase = Browserbase(api_key=os.environ["SHOAL_API_KEY"], base_url="SERVICE_URL/browserbase")
session = browserbase.sessions.retrieve("SESSION_ID")`,
    },
    {
      name: "Stagehand 3",
      language: "Node.js",
      versions: [npm("stagehand-3")],
      change: '`env: "BROWSERBASE"`, the same variables, and `STAGEHAND_API_URL=https://shoal.example/browserbase`',
      tests: {
        [`${dialects}/stagehand.slow.ts`]: [
          "starts a session, acts in it with a model of the user, and leaves nothing",
        ],
      },
      flow: "`init`, `act` with a scripted model, `close`",
      limits: "It needs a model with its own key.",
      code: `// BROWSERBASE_BASE_URL=SERVICE_URL/browserbase STAGEHAND_API_URL=SERVICE_URL/browserbase BROWSERBASE_API_KEY=$SHOAL_API_KEY
import { Stagehand } from "@browserbasehq/stagehand";

const stagehand = new Stagehand({ env: "BROWSERBASE", browserbaseSessionID: "SESSION_ID" });
await stagehand.init();`,
    },
    {
      name: "Stagehand 4 with Browserbase",
      language: "Node.js",
      versions: [npm("@browserbasehq/stagehand")],
      change: '`browserbase.launch({ apiKey: KEY, baseUrl: "https://shoal.example/browserbase" })`',
      tests: {
        [`${dialects}/stagehand.slow.ts`]: [
          "Stagehand 4 launches a session with its extension, observes, and leaves nothing",
          "Stagehand 4 connects to a session that exists",
        ],
      },
      flow: "`launch` and `connect`, `observe` with a scripted model, forms, `close`",
      limits:
        "It needs a model with its own key. `connect` needs its extension in the session, and `close` ends the session.",
      code: `import { browserbase, Stagehand } from "@browserbasehq/stagehand";

const service = { apiKey: process.env.SHOAL_API_KEY, baseUrl: "SERVICE_URL/browserbase" };
const browser = await browserbase.connect({ ...service, sessionId: "SESSION_ID" });
const stagehand = await Stagehand.create({ browser, model: { modelName: "openai/gpt-5", apiKey: process.env.OPENAI_API_KEY } });`,
    },
  ],
};

export const steel: Door = {
  name: "Steel",
  page: "guide/from-steel.md",
  dialect: "steel",
  clients: [
    {
      name: "steel-sdk",
      language: "Node.js",
      versions: [npm("steel-sdk")],
      change: "`STEEL_BASE_URL=https://shoal.example/steel` and `STEEL_API_KEY`",
      tests: {
        [`${dialects}/steel.slow.ts`]: [
          "creates a session, connects with a key appended, and releases it",
          "uploads files with slashes in their paths",
          "pages through sessions, and releases all",
          "scrapes pages, and gets errors as its own",
        ],
      },
      flow: "sessions, paging, files, computer, scraping",
      limits: "[Some fields and operations](guide/from-steel.md#what-differs) answer 501.",
      code: `import Steel from "steel-sdk";

const steel = new Steel({ steelAPIKey: process.env.SHOAL_API_KEY, baseURL: "SERVICE_URL/steel" });
const session = await steel.sessions.retrieve("SESSION_ID");`,
    },
    {
      name: "steel-sdk for Python",
      language: "Python",
      versions: [pip("steel-sdk")],
      change: "the same variables",
      tests: { [`${dialects}/steel-python.slow.ts`]: ["finds that every answer fits its types"] },
      flow: "the same, with strict validation",
      limits: "The same.",
      code: `import os
from steel import Steel

steel = Steel(steel_api_key=os.environ["SHOAL_API_KEY"], base_url="SERVICE_URL/steel")
session = steel.sessions.retrieve("SESSION_ID")`,
    },
  ],
};

export const browserless: Door = {
  name: "Browserless",
  page: "guide/from-browserless.md",
  dialect: "browserless",
  clients: [
    {
      name: "HTTP and sockets",
      language: "any",
      versions: [],
      change: "`https://shoal.example/browserless` with `token=KEY`",
      tests: {
        "apps/server/src/dialects/browserless/browserless.slow.ts": [
          "are pictures and documents",
          "are scraped",
          "get the fields of the vendor",
          "is created by a connection, listed, and killed",
        ],
      },
      flow: "pictures, documents, scraping, sockets, `/kill`",
      limits: "[Some fields and operations](guide/from-browserless.md#what-differs) answer 501.",
      code: `# Pages without a session:
curl "SERVICE_URL/browserless/content?token=$SHOAL_API_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/"}'
# This session, for Puppeteer:
echo ${addressIn.shell}`,
    },
  ],
};

export const cloudflare: Door = {
  name: "Cloudflare Browser Rendering",
  page: "guide/from-cloudflare.md",
  dialect: "cloudflare",
  clients: [
    {
      name: "cloudflare",
      language: "Node.js",
      versions: [npm("cloudflare")],
      change: "`CLOUDFLARE_BASE_URL=https://shoal.example/cloudflare` and `CLOUDFLARE_API_TOKEN`",
      tests: {
        [`${dialects}/cloudflare.slow.ts`]: [
          "gets HTML, Markdown, links and elements",
          "gets pictures, documents and snapshots",
          "gets errors as its own",
        ],
      },
      flow: "content, Markdown, links, scraping, pictures, documents, snapshots",
      limits: "[Some fields and operations](guide/from-cloudflare.md#what-differs) answer 501.",
      code: `import Cloudflare from "cloudflare";

// Pages without a session.
const { browserRendering } = new Cloudflare({ apiToken: process.env.SHOAL_API_KEY, baseURL: "SERVICE_URL/cloudflare" });
const html = await browserRendering.content.create({ account_id: "any", url: "https://example.com/" });`,
    },
  ],
};
