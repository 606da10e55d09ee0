import { checkedBody, ServiceError } from "@shoal/router";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import type * as z from "zod/mini";
import { toCreate as planBrowserbase } from "./browserbase/create-session.ts";
import { CreateSession as BrowserbaseSession } from "./browserbase/shapes.ts";
import { plans } from "./cloudflare/plan.ts";
import { LinksBody, PageBody, PdfBody, ScrapeBody, ScreenshotBody, SnapshotBody } from "./cloudflare/shapes.ts";
import { toCreate as planSteel } from "./steel/create-session.ts";
import { CreateSession as SteelSession } from "./steel/shapes.ts";

/** The clients are packages of the end-to-end tests. */
const packages = join(import.meta.dirname, "../../../e2e/node_modules");

type Json = Readonly<Record<string, unknown>>;

/** An optional field of a published type, in a value with the required fields, and the value without it. */
interface Field {
  readonly path: string;
  readonly value: unknown;
  readonly without: unknown;
}
interface Sample {
  /** With the required fields only. */
  readonly base: unknown;
  readonly fields: readonly Field[];
}
type Declared = { readonly scope: string } & (
  { readonly members: readonly ts.TypeElement[] } | { readonly type: ts.TypeNode }
);

/** Collects the types of a declaration file by their names, with those of the namespaces around them. */
function declarationsOf(file: string): ReadonlyMap<string, Declared> {
  const found = new Map<string, Declared>();
  const collect = (node: ts.Node, scope: string): void => {
    if (ts.isInterfaceDeclaration(node)) found.set(scope + node.name.text, { members: [...node.members], scope });
    else if (ts.isTypeAliasDeclaration(node)) found.set(scope + node.name.text, { type: node.type, scope });
    else if (ts.isModuleDeclaration(node) && node.body !== undefined && ts.isModuleBlock(node.body))
      for (const statement of node.body.statements) collect(statement, `${scope}${node.name.text}.`);
  };
  const path = join(packages, file);
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
  for (const statement of source.statements) collect(statement, "");
  return found;
}

interface Source {
  readonly file: string;
  readonly type: string;
  /** Values by path, where the usual ones are invalid or the default. */
  readonly examples?: Json;
  /** Optional fields that this service requires. */
  readonly required?: readonly string[];
}

/** The optional fields of a type that have no fields themselves. */
function fieldsOf({ examples = {}, file, required = [], type: name }: Source): readonly Field[] {
  const declared = declarationsOf(file);
  const resolve = (written: string, scope: string): Declared => {
    for (let around = scope; ; around = around.replace(/[^.]+\.$/, "")) {
      const type = declared.get(around + written);
      if (type !== undefined) return type;
      if (around === "") throw new Error(`${file} does not declare ${written}.`);
    }
  };
  const ofMembers = (members: readonly ts.TypeElement[], scope: string, path: string): Sample => {
    const samples = members.flatMap((member) => {
      if (!ts.isPropertySignature(member) || member.type === undefined) return [];
      const field = (member.name as ts.Identifier).text;
      const at = path === "" ? field : `${path}.${field}`;
      const isRequired = member.questionToken === undefined || required.includes(at);
      return [{ at, field, isRequired, ...ofType(member.type, scope, at) }];
    });
    const base = Object.fromEntries(
      samples.filter(({ isRequired }) => isRequired).map((each) => [each.field, each.base]),
    );
    const fields = samples.flatMap(({ at, base: given, field, fields: inner, isRequired }) => [
      ...(isRequired ? [] : [{ path: at, value: { ...base, [field]: given }, without: base }]),
      ...inner.map((each) => ({
        path: each.path,
        value: { ...base, [field]: each.value },
        without: { ...base, [field]: each.without },
      })),
    ]);
    const [index] = members.filter((member) => ts.isIndexSignatureDeclaration(member));
    return index === undefined ? { base, fields } : { base: { key: ofType(index.type, scope, path).base }, fields: [] };
  };
  const ofDeclared = (found: Declared, path: string): Sample =>
    "members" in found ? ofMembers(found.members, found.scope, path) : ofType(found.type, found.scope, path);
  const inList = ({ base, fields }: Sample): Sample => ({
    base: [base],
    fields: fields.map(({ path, value, without }) => ({ path, value: [value], without: [without] })),
  });
  const ofType = (type: ts.TypeNode, scope: string, path: string): Sample => {
    if (path in examples) return { base: examples[path], fields: [] };
    if (ts.isUnionTypeNode(type)) {
      const options = type.types.map((each) => ofType(each, scope, path));
      return { base: options[0]?.base, fields: options.flatMap(({ fields }) => fields) };
    }
    if (ts.isArrayTypeNode(type)) return inList(ofType(type.elementType, scope, path));
    if (ts.isTypeLiteralNode(type)) return ofMembers(type.members, scope, path);
    if (ts.isLiteralTypeNode(type))
      return { base: ts.isStringLiteral(type.literal) ? type.literal.text : true, fields: [] };
    if (ts.isTypeReferenceNode(type)) {
      const written = entityText(type.typeName);
      const [argument] = type.typeArguments ?? [];
      if (written === "Array" && argument !== undefined) return inList(ofType(argument, scope, path));
      const found = resolve(written, scope);
      return ofDeclared(found, path);
    }
    if (type.kind === ts.SyntaxKind.BooleanKeyword) return { base: true, fields: [] };
    return { base: type.kind === ts.SyntaxKind.NumberKeyword ? 100 : "text", fields: [] };
  };
  const { fields } = ofDeclared(resolve(name, ""), "");
  const isParent = (path: string) => fields.some((other) => other.path.startsWith(`${path}.`));
  return [...new Map(fields.toReversed().map((field) => [field.path, field])).values()]
    .filter(({ path }) => !isParent(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const entityText = (name: ts.EntityName): string =>
  ts.isIdentifier(name) ? name.text : `${entityText(name.left)}.${name.right.text}`;

interface Operation<Body> extends Source {
  readonly shape: z.ZodMiniType<Body>;
  readonly plan: (body: Body) => { readonly ignored: readonly string[] };
  /** Fields at the top that the client or another part of the dialect handles. */
  readonly elsewhere?: readonly string[];
}

type Outcome = "honoured" | "refused" | "reported" | "silent" | "unknown";

/** Unknown fields are left to the router, which refuses or reports them. */
function outcomeOf<Body>({ elsewhere = [], plan, shape }: Operation<Body>, { path, value, without }: Field): Outcome {
  const bodyOf = (given: unknown) =>
    Object.fromEntries(Object.entries(given as Json).filter(([name]) => !elsewhere.includes(name)));
  const planned = (given: unknown) => {
    const { ignored, ...rest } = plan(checkedBody(shape, bodyOf(given), "ignore"));
    return { ignored: ignored.map((at) => at.replaceAll(/\[\d+\]/g, "")), text: JSON.stringify(rest) };
  };
  try {
    const { ignored, text } = planned(value);
    if (ignored.some((at) => `body.${path}.`.startsWith(`${at}.`))) return "reported";
    if (text !== planned(without).text) return "honoured";
  } catch (error) {
    if (ServiceError.isInstance(error) && error.field?.startsWith("body.")) return "refused";
    throw new Error(`The example of ${path} is invalid.`, { cause: error });
  }
  try {
    checkedBody(shape, bodyOf(value), "refuse");
    return "silent";
  } catch {
    return "unknown";
  }
}

/** @param others - fields that are tested with another operation. */
function outcomesOf<Body>(operation: Operation<Body>, others: ReadonlySet<string> = new Set()) {
  const outcomes: Partial<Record<Outcome, string[]>> = {};
  for (const field of fieldsOf(operation)) {
    const [first = ""] = field.path.split(".");
    if (operation.elsewhere?.includes(first) === true || others.has(field.path)) continue;
    (outcomes[outcomeOf(operation, field)] ??= []).push(field.path);
  }
  return outcomes;
}

const server = "http://proxy.example:8080";

it("each field of a new session of @browserbasehq/sdk has an effect, is refused or is reported", () => {
  const outcomes = outcomesOf({
    file: "@browserbasehq/sdk/resources/sessions/sessions.d.ts",
    type: "SessionCreateParams",
    shape: BrowserbaseSession,
    plan: planBrowserbase,
    examples: {
      "proxies.server": server,
      "proxies.domainPattern": "example.com",
      "browserSettings.os": "mobile",
      // The client has another name for it.
      api_timeout: 100,
    },
    elsewhere: ["api_timeout", "projectId"],
  });
  expect(outcomes).toEqual({
    honoured: [
      "browserSettings.advancedStealth",
      "browserSettings.context.persist",
      "browserSettings.extensionId",
      "browserSettings.logSession",
      "browserSettings.recordSession",
      "browserSettings.verified",
      "browserSettings.viewport.height",
      "browserSettings.viewport.width",
      "extensionId",
      "keepAlive",
      "proxies.geolocation.city",
      "proxies.geolocation.state",
      "proxies.password",
      "proxies.username",
      "userMetadata",
    ],
    refused: [
      "browserSettings.allowedDomains",
      "browserSettings.ignoreCertificateErrors",
      "browserSettings.os",
      "proxies.domainPattern",
      "proxySettings.caCertificates",
    ],
    reported: [
      "browserSettings.blockAds",
      "browserSettings.captchaImageSelector",
      "browserSettings.captchaInputSelector",
      "browserSettings.solveCaptchas",
      "region",
    ],
  });
});

it("each field of a new session of steel-sdk has an effect, is refused or is reported", () => {
  const outcomes = outcomesOf({
    file: "steel-sdk/resources/sessions/sessions.d.ts",
    type: "SessionCreateParams",
    shape: SteelSession,
    plan: planSteel,
    examples: {
      sessionId: "123e4567-e89b-42d3-a456-426614174000",
      timeout: 60_000,
      proxyUrl: server,
      "useProxy.server": server,
      "sessionContext.cookies.domain": "example.org",
      "sessionContext.cookies.url": "https://example.com/",
      "sessionContext.localStorage": { "https://example.com": { name: "value" } },
      "deviceConfig.device": "mobile",
    },
    required: ["sessionContext.cookies.url", "sessionContext.cookies.expires"],
  });
  expect(outcomes).toEqual({
    honoured: [
      "dimensions",
      "extensionIds",
      "headless",
      "optimizeBandwidth.blockHosts",
      "persistProfile",
      "profileId",
      "proxyUrl",
      "sessionContext.cookies.domain",
      "sessionContext.cookies.httpOnly",
      "sessionContext.cookies.partitionKey",
      "sessionContext.cookies.path",
      "sessionContext.cookies.sameSite",
      "sessionContext.cookies.secure",
      "sessionContext.cookies.session",
      "sessionContext.localStorage",
      "sessionId",
      "stealthConfig.skipFingerprintInjection",
      "timeout",
      "useProxy.geolocation.city",
      "useProxy.geolocation.state",
    ],
    refused: [
      "credentials.autoSubmit",
      "credentials.blurFields",
      "credentials.exactOrigin",
      "deviceConfig.device",
      "isSelenium",
      "userAgent",
    ],
    reported: [
      "blockAds",
      "concurrency",
      "debugConfig.interactive",
      "debugConfig.systemCursor",
      "experimentalFeatures",
      "namespace",
      "optimizeBandwidth.blockImages",
      "optimizeBandwidth.blockMedia",
      "optimizeBandwidth.blockStylesheets",
      "optimizeBandwidth.blockUrlPatterns",
      "region",
      "sessionContext.cookies.priority",
      "sessionContext.cookies.sameParty",
      "sessionContext.cookies.size",
      "sessionContext.cookies.sourcePort",
      "sessionContext.cookies.sourceScheme",
      "sessionContext.indexedDB",
      "sessionContext.sessionStorage",
      "solveCaptcha",
      "stealthConfig.autoCaptchaSolving",
      "stealthConfig.humanizeInteractions",
    ],
  });
});

const ofCloudflare = <Body>(name: string, type: string, rest: Pick<Operation<Body>, "plan" | "shape">) => ({
  file: `cloudflare/resources/browser-rendering/${name}.d.ts`,
  type,
  ...rest,
  examples: {
    "addScriptTag.url": "https://example.com/a.js",
    "addStyleTag.url": "https://example.com/a.css",
    "cookies.url": "https://example.com/",
    emulateMediaType: "print",
    "pdfOptions.format": "a4",
    ...Object.fromEntries(
      ["height", "margin.bottom", "margin.left", "margin.right", "margin.top", "width"].map((name) => [
        `pdfOptions.${name}`,
        "1cm",
      ]),
    ),
    rejectResourceTypes: ["image"],
    "screenshotOptions.encoding": "base64",
    setJavaScriptEnabled: false,
  },
  required: ["addScriptTag.content", "addStyleTag.content", "elements"],
  // The account is in the path, the time of the cache in the query, and links are chosen after the page is rendered.
  elsewhere: ["account_id", "cacheTTL", "excludeExternalLinks"],
});
const content = ofCloudflare("content", "ContentCreateParams", { shape: PageBody, plan: plans.content });
const shared = new Set(fieldsOf(content).map(({ path }) => path));

it("each field that the operations of cloudflare share has an effect, is refused or is reported", () => {
  expect(outcomesOf(content)).toEqual({
    honoured: [
      "actionTimeout",
      "addScriptTag.id",
      "addScriptTag.type",
      "addScriptTag.url",
      "addStyleTag.url",
      "authenticate",
      "bestAttempt",
      "cookies.domain",
      "cookies.httpOnly",
      "cookies.path",
      "cookies.sameSite",
      "cookies.secure",
      "cookies.url",
      "emulateMediaType",
      "gotoOptions.referer",
      "gotoOptions.timeout",
      "gotoOptions.waitUntil",
      "html",
      "rejectRequestPattern",
      "rejectResourceTypes",
      "setExtraHTTPHeaders",
      "setJavaScriptEnabled",
      "url",
      "userAgent",
      "viewport.deviceScaleFactor",
      "viewport.hasTouch",
      "viewport.isMobile",
      "waitForSelector.hidden",
      "waitForSelector.visible",
      "waitForTimeout",
    ],
    refused: ["allowRequestPattern", "allowResourceTypes"],
    reported: ["cookies.expires", "viewport.isLandscape", "waitForSelector.timeout"],
    unknown: [
      "cookies.partitionKey",
      "cookies.priority",
      "cookies.sameParty",
      "cookies.sourcePort",
      "cookies.sourceScheme",
      "gotoOptions.referrerPolicy",
    ],
  });
});

it("each field of single operations of cloudflare has an effect, is refused or is reported", () => {
  const { links, markdown, pdf, scrape, screenshot, snapshot } = plans;
  const of = <Body>(name: string, type: string, rest: Pick<Operation<Body>, "plan" | "shape">) =>
    outcomesOf(ofCloudflare(name, type, rest), shared);
  expect(of("links", "LinkCreateParams", { shape: LinksBody, plan: links })).toEqual({ refused: ["visibleLinksOnly"] });
  expect(of("markdown", "MarkdownCreateParams", { shape: PageBody, plan: markdown })).toEqual({});
  expect(of("scrape", "ScrapeCreateParams", { shape: ScrapeBody, plan: scrape })).toEqual({});
  expect(of("pdf", "PDFCreateParams", { shape: PdfBody, plan: pdf })).toEqual({
    honoured: [
      "pdfOptions.displayHeaderFooter",
      "pdfOptions.format",
      "pdfOptions.height",
      "pdfOptions.landscape",
      "pdfOptions.margin.bottom",
      "pdfOptions.margin.left",
      "pdfOptions.margin.right",
      "pdfOptions.margin.top",
      "pdfOptions.outline",
      "pdfOptions.pageRanges",
      "pdfOptions.preferCSSPageSize",
      "pdfOptions.printBackground",
      "pdfOptions.scale",
      "pdfOptions.tagged",
      "pdfOptions.width",
    ],
    reported: [
      "pdfOptions.footerTemplate",
      "pdfOptions.headerTemplate",
      "pdfOptions.omitBackground",
      "pdfOptions.timeout",
    ],
  });
  expect(of("screenshot", "ScreenshotCreateParams", { shape: ScreenshotBody, plan: screenshot })).toEqual({
    honoured: [
      "screenshotOptions.encoding",
      "screenshotOptions.fullPage",
      "screenshotOptions.omitBackground",
      "screenshotOptions.quality",
      "screenshotOptions.type",
      "selector",
    ],
    refused: ["screenshotOptions.clip.scale"],
    reported: ["screenshotOptions.captureBeyondViewport", "screenshotOptions.optimizeForSpeed", "scrollPage"],
    unknown: ["screenshotOptions.fromSurface"],
  });
  expect(of("snapshot", "SnapshotCreateParams", { shape: SnapshotBody, plan: snapshot })).toEqual({
    honoured: [
      "formats",
      "screenshotOptions.fullPage",
      "screenshotOptions.omitBackground",
      "screenshotOptions.quality",
      "screenshotOptions.type",
    ],
    refused: ["screenshotOptions.clip.scale"],
    reported: ["screenshotOptions.captureBeyondViewport", "screenshotOptions.optimizeForSpeed"],
    unknown: ["screenshotOptions.fromSurface"],
  });
});
