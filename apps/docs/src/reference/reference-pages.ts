import type { Page } from "../site/page.ts";
import { curlExample, sdkExample } from "./examples.ts";
import { contentOf, type Endpoint, endpointsOf, nameOf, type OpenApi, type Parameter, type Schema } from "./openapi.ts";
import { Types } from "./types.ts";

const folder = "api/";
const sourceOf = (path: string) => `docs/${folder}${path}.md`;
const slugOf = (area: string) => area.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/** The reference of the API as pages: an index, and one page for each area. */
export interface Reference {
  readonly index: Page;
  readonly areas: readonly Page[];
}

/** @param commands - usage of the command by the name of its operation: `shoal browsers get [id-or-name]` */
export function referencePages(document: OpenApi, commands: ReadonlyMap<string, string>): Reference {
  const endpoints = endpointsOf(document);
  const types = new Types(document, endpoints);
  const areas = document.tags.map(({ name, description }) => {
    const page = new AreaPage({ document, types, commands, area: name });
    const own = endpoints.filter(({ tags }) => tags[0] === name);
    const path = slugOf(name);
    return {
      path: folder + path,
      source: sourceOf(path),
      title: name,
      about: description,
      markdown: page.write(description, own),
      isReference: true,
    };
  });
  const counts = new Map(document.tags.map(({ name }) => [name, endpoints.filter(({ tags }) => tags[0] === name)]));
  const rows = areas.map(
    ({ about, source, title }) =>
      `| [${title}](${source.slice(sourceOf("").length - 3)}) | ${about} | ${counts.get(title)?.length ?? 0} |`,
  );
  const markdown = `# API reference

The service answers at \`SHOAL_BASE_URL\`, by default \`http://127.0.0.1:7777\`. Send a key with each request:
\`Authorization: Bearer $SHOAL_API_KEY\`. Errors have a \`code\` and a \`message\`: [errors](../guide/errors.md),
[all codes](../guide/error-codes.md). The whole contract for other tools is [openapi.json](../../openapi.json).

| area | about | operations |
| --- | --- | --- |
${rows.join("\n")}
`;
  const about = "every operation with its fields and examples";
  const index = {
    path: folder,
    source: sourceOf("README"),
    title: "API reference",
    about,
    markdown,
    isReference: true,
  };
  return { index, areas };
}

interface Parts {
  readonly document: OpenApi;
  readonly types: Types;
  readonly commands: ReadonlyMap<string, string>;
  readonly area: string;
}

/** Writes the page of an area as Markdown. */
class AreaPage {
  readonly #parts: Parts;
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  write(description: string, endpoints: readonly Endpoint[]): string {
    const { area, types } = this.#parts;
    const names = types.namesOf(area);
    return [
      `# ${area}`,
      description,
      ...endpoints.flatMap((endpoint) => this.#operation(endpoint)),
      ...(names.length === 0 ? [] : ["## Types", ...names.flatMap((name) => this.#type(name))]),
      "",
    ].join("\n\n");
  }

  #operation(endpoint: Endpoint): string[] {
    const { commands, document } = this.#parts;
    const { deprecated = false, description, method, operationId, path, summary } = endpoint;
    const command = commands.get(operationId);
    const sdk = sdkExample(document, endpoint);
    const shell = [curlExample(document, endpoint), ...(command === undefined ? [] : [command])];
    return [
      `## ${operationId}`,
      `\`${method} ${path}\``,
      `${deprecated ? "**Deprecated.** " : ""}${textOf(summary)}${description === undefined ? "" : ` ${textOf(description)}`}`,
      ...this.#request(endpoint),
      ...this.#answers(endpoint),
      ...(sdk === undefined ? [] : [fence("ts", sdk)]),
      fence("sh", shell.join("\n\n")),
    ];
  }

  #request({ parameters = [], requestBody }: Endpoint): string[] {
    const own = parameters.filter(({ name }) => !commonHeaders.has(name));
    const content = contentOf(requestBody?.content);
    const fields = content === undefined ? {} : this.#resolved(content.schema);
    const about = [requestBody?.required === true ? "Required" : "Optional", `\`${content?.type ?? ""}\``].join(", ");
    const note = requestBody?.description === undefined ? "" : ` ${requestBody.description}`;
    return [
      ...(own.length === 0 ? [] : ["### Parameters", this.#parameters(own)]),
      ...(content === undefined ? [] : ["### Body", `${about}.${note}`, ...this.#fields(fields)]),
    ];
  }

  #parameters(parameters: readonly Parameter[]): string {
    const rows = parameters.map(({ name, in: place, required = false, deprecated = false, description, schema }) =>
      row([
        `\`${name}\``,
        place,
        this.#typeOf(schema),
        about({ ...schema, deprecated, ...(description !== undefined && { description }) }, required),
      ]),
    );
    return table(["name", "in", "type", "meaning"], rows);
  }

  #answers({ responses }: Endpoint): string[] {
    const entries = Object.entries(responses);
    const lines = entries.flatMap(([status, response]) => {
      const content = contentOf(response.content);
      if (response.$ref !== undefined || (content === undefined && !status.startsWith("2"))) return [];
      const type = content === undefined ? "no content" : this.#typeOf(content.schema);
      const media = content === undefined || content.type === "application/json" ? "" : `, \`${content.type}\``;
      const isPage = response.headers !== undefined && "X-Next-Offset" in response.headers;
      return [`- ${status}: ${type}${media}${isPage ? ", a page of a [list](../guide/paging.md)" : ""}`];
    });
    const errors = entries.flatMap(([status, { $ref }]) => ($ref === undefined ? [] : [status]));
    const refused = `- ${errors.join(", ")}: an [error](../guide/errors.md)`;
    return ["### Answers", [...lines, ...(errors.length === 0 ? [] : [refused])].join("\n")];
  }

  #type(name: string): string[] {
    const { types } = this.#parts;
    const schema = types.schemaOf(name);
    const { description } = schema;
    return [`### ${name}`, ...(description === undefined ? [] : [textOf(description)]), ...this.#fields(schema)];
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#parts.types.schemaOf(nameOf(schema.$ref));
  }

  #fields(schema: Schema): string[] {
    if (schema.properties === undefined) return [`Type: ${this.#typeOf(schema)}`];
    const rows = Object.entries(schema.properties).map(([name, field]) =>
      row([`\`${name}\``, this.#typeOf(field), about(field, schema.required?.includes(name) === true)]),
    );
    return rows.length === 0 ? ["No fields."] : [table(["field", "type", "meaning"], rows)];
  }

  /** A type in words, with links to the descriptions of others. */
  #typeOf(schema: Schema): string {
    const { $ref, additionalProperties, anyOf, const: only, enum: values, format, items, oneOf, type } = schema;
    if ($ref !== undefined) return this.#linkTo(nameOf($ref));
    const alternatives = anyOf ?? oneOf;
    if (alternatives !== undefined) return alternatives.map((each) => this.#typeOf(each)).join(" or ");
    if (only !== undefined) return `\`${JSON.stringify(only)}\``;
    if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
    if (type === "array") return `list of ${this.#typeOf(items ?? {})}`;
    if (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0)
      return `map of ${this.#typeOf(additionalProperties)}`;
    if (type === undefined) return "any";
    const names = typeof type === "string" ? type : type.join(" or ");
    return format === undefined ? names : `${names} (${format})`;
  }

  #linkTo(name: string): string {
    const { area, types } = this.#parts;
    const place = types.areaOf(name);
    if (place === undefined) return `\`${name}\``;
    return `[${name}](${place === area ? "" : `${slugOf(place)}.md`}#${name})`;
  }
}

/** Explained in the guide: the project, and the key of repetitions. */
const commonHeaders = new Set(["X-Shoal-Project", "Idempotency-Key"]);

function about({ default: absent, deprecated = false, description = "" }: Schema, isRequired: boolean): string {
  const parts = [
    isRequired ? "**Required.**" : "",
    deprecated && !description.startsWith("Deprecated") ? "**Deprecated.**" : "",
    textOf(description),
    absent === undefined || /\bdefault\b/i.test(description) ? "" : `Default: \`${JSON.stringify(absent)}\`.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** Descriptions name signs that Markdown would take for HTML. */
const textOf = (text: string) =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll(/[<*_]/g, "\\$&")))
    .join("")
    .replaceAll("\n", " ");

const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

const table = (names: readonly string[], rows: readonly string[]) =>
  [row(names), row(names.map(() => "---")), ...rows].join("\n");

const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;
