import { contentOf, type Endpoint, nameOf, type OpenApi, type Schema } from "./openapi.ts";

/** Where each type is described: on the page of the first area that uses it. */
export class Types {
  readonly #document: OpenApi;
  readonly #areas = new Map<string, string>();

  constructor(document: OpenApi, endpoints: readonly Endpoint[]) {
    this.#document = document;
    for (const { name } of document.tags)
      for (const endpoint of endpoints.filter(({ tags }) => tags[0] === name)) {
        const body = contentOf(endpoint.requestBody?.content)?.schema ?? {};
        // The fields of a body are in its operation.
        this.#add(name, body.$ref === undefined ? body : this.schemaOf(nameOf(body.$ref)));
        for (const response of Object.values(endpoint.responses))
          this.#add(name, contentOf(response.content)?.schema ?? {});
      }
  }

  schemaOf(name: string): Schema {
    return this.#document.components.schemas[name] ?? {};
  }

  areaOf(name: string): string | undefined {
    return this.#areas.get(name);
  }

  /** Names of the types that an area describes, in the order of the alphabet. */
  namesOf(area: string): string[] {
    return [...this.#areas].flatMap(([name, its]) => (its === area ? [name] : [])).sort();
  }

  #add(area: string, schema: Schema): void {
    const name = schema.$ref === undefined ? undefined : nameOf(schema.$ref);
    if (name !== undefined) {
      if (this.#areas.has(name)) return;
      this.#areas.set(name, area);
      this.#add(area, this.schemaOf(name));
      return;
    }
    const { additionalProperties, anyOf = [], items, oneOf = [], properties = {} } = schema;
    const parts = [...Object.values(properties), ...anyOf, ...oneOf, items, additionalProperties];
    for (const part of parts) if (typeof part === "object") this.#add(area, part);
  }
}
