import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { errorCodeTable } from "../packages/schemas/src/base/error-code-table.ts";
import { errorCodes } from "../packages/schemas/src/base/error.ts";

const root = join(import.meta.dirname, "..");
/** Sources of the service, its instances and the fake, and the errors that these share. Other programs, such as the example extension, may send other codes. */
const sources = globSync(
  [
    "packages/{router,instance,placement,database,testing}/src/**/*.ts",
    "packages/contract/src/refusals/**/*.ts",
    "apps/{server,cli}/src/**/*.ts",
  ],
  { cwd: root },
)
  .map((path) => path.split(sep).join("/"))
  .filter((path) => !/\.(?:test|test-d|slow)\.ts$/.test(path) && !/\/src\/(?:.*\/)?testing\//.test(path));

/** Answers of an instance to its server, which translates them. */
const betweenServerAndInstance = new Set(["no_display", "no_full_chromium"]);

/** Why a login failed: `error_code` of a connection, not of an answer. */
const ofLogins = new Set(["browser_error", "canceled", "credentials_invalid", "expired", "flow_failed"]);

/** Parts of a successful answer of a search: warnings, and pages that were not read. */
const ofSearches = new Set(["fewer_results", "no_provider_content", "timeout", "unsupported_param"]);

interface Sent {
  readonly code: string;
  /** `undefined` for codes in an error's details. */
  readonly status: number | undefined;
  readonly where: string;
}

const statusIn = (node: ts.Node | undefined) =>
  node !== undefined && ts.isNumericLiteral(node) && /^[45]\d\d$/.test(node.text) ? Number(node.text) : undefined;
const codeIn = (node: ts.Node | undefined) =>
  node !== undefined && ts.isStringLiteral(node) && /^[a-z][a-z_]*$/.test(node.text) ? node.text : undefined;

/**
 * Finds status and code as a pair of arguments (`ServiceError(404, "not_found", …)`), as fields of an object, or as
 * `[408, { code, message }]`.
 */
function sentIn(path: string): Sent[] {
  const file = ts.createSourceFile(path, readFileSync(join(root, path), "utf8"), ts.ScriptTarget.Latest, true);
  const found: Sent[] = [];
  const add = (node: ts.Node, status: number | undefined, code: string | undefined) => {
    if (code !== undefined)
      found.push({
        code,
        status,
        where: `${path}:${String(file.getLineAndCharacterOfPosition(node.getStart()).line + 1)}`,
      });
  };
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const [first, second] = node.arguments ?? [];
      const status = statusIn(first);
      if (status !== undefined) add(node, status, codeIn(second));
    } else if (ts.isObjectLiteralExpression(node)) {
      const field = (name: string) =>
        node.properties.find((property) => ts.isPropertyAssignment(property) && property.name.getText() === name);
      const valueOf = (name: string) => {
        const property = field(name);
        return property !== undefined && ts.isPropertyAssignment(property) ? property.initializer : undefined;
      };
      const isError = node.properties.some((property) =>
        ["message", "problem"].includes(property.name?.getText() ?? ""),
      );
      const before = ts.isArrayLiteralExpression(node.parent)
        ? node.parent.elements[node.parent.elements.indexOf(node) - 1]
        : undefined;
      const status = statusIn(valueOf("status")) ?? statusIn(before);
      // Internal errors between programs have a hint instead of a status, or are thrown unchanged.
      if (isError && (status !== undefined || field("hint") === undefined)) add(node, status, codeIn(valueOf("code")));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const elsewhere = [betweenServerAndInstance, ofLogins, ofSearches];
const sent = sources.flatMap(sentIn).filter(({ code }) => !elsewhere.some((codes) => codes.has(code)));

describe("the table of error codes", () => {
  it("is found to be sent by what the test reads", () => {
    expect(sources.length).toBeGreaterThan(300);
    expect(sent.length).toBeGreaterThan(250);
  });

  it("has every code that the sources send, with its status: else add it to packages/schemas/src/base/error.ts and error-code-table.ts", () => {
    const undeclared = sent.filter(({ code, status }) => {
      const entry = Object.entries(errorCodeTable).find(([known]) => known === code)?.[1];
      return entry === undefined || (status !== undefined && !entry.statuses.includes(status));
    });
    expect(undeclared.map(({ code, status, where }) => `${where} sends ${String(status)} ${code}`)).toEqual([]);
  });

  it("has nothing that no source sends", () => {
    const unsent = Object.entries(errorCodeTable).flatMap(([code, { statuses }]) =>
      (statuses.length === 0 ? [undefined] : statuses)
        .filter((status) => !sent.some((one) => one.code === code && one.status === status))
        .map((status) => `${String(status)} ${code}`),
    );
    expect(unsent).toEqual([]);
  });

  it("is in the order of the codes", () => {
    expect([...errorCodes].sort()).toEqual([...errorCodes]);
    expect(Object.keys(errorCodeTable)).toEqual([...errorCodes]);
  });
});
