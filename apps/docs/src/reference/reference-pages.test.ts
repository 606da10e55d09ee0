import { expect, it } from "vitest";
import { commandUsages } from "./commands.ts";
import type { OpenApi } from "./openapi.ts";
import { referencePages } from "./reference-pages.ts";

const json = (name: string) => ({ "application/json": { schema: { $ref: `#/components/schemas/${name}` } } });
const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
const document: OpenApi = {
  tags: [
    { name: "Profiles", description: "Saved state." },
    { name: "Browser Pools", description: "Warm browsers." },
  ],
  paths: {
    "/profiles": {
      post: {
        operationId: "profiles.create",
        tags: ["Profiles"],
        summary: "Create a profile.",
        parameters: [{ name: "Idempotency-Key", in: "header", schema: { type: "string" } }],
        requestBody: { required: true, content: json("CreateProfile") },
        responses: { 201: { content: json("Profile") }, 400: { $ref: "#/components/responses/BadRequest" } },
      },
    },
    "/pools/{id}/files": {
      put: {
        operationId: "pools.upload",
        tags: ["Browser Pools"],
        summary: "Upload <files>.",
        deprecated: true,
        parameters: [id],
        requestBody: { content: { "multipart/form-data": { schema: { $ref: "#/components/schemas/Upload" } } } },
        responses: { 200: { content: json("Profile") } },
      },
    },
  },
  components: {
    parameters: {},
    schemas: {
      CreateProfile: {
        type: "object",
        properties: { name: { type: "string", description: "Unique | short." }, size: { type: "integer", default: 3 } },
        required: ["name"],
        examples: [{ name: "it's", "a-b": [1] }],
      },
      Profile: { type: "object", properties: { tags: { $ref: "#/components/schemas/Tags" } } },
      Tags: { type: "object", additionalProperties: { type: "string" }, description: "Labels." },
      Upload: {
        type: "object",
        properties: {
          files: {
            type: "array",
            items: {
              type: "object",
              properties: { path: { type: "string" }, file: { type: "string", format: "binary" } },
              required: ["path", "file"],
            },
          },
        },
        required: ["files"],
      },
    },
  },
};
const commands = commandUsages(
  "| `profiles.create` | `POST /profiles` | `shoal profiles create` | service | Create a profile. |",
  "| `shoal profiles create [name]` | Create a profile |  |",
);
const { areas, index } = referencePages(document, commands);
const textOf = (path: string) => areas.find((page) => page.path === path)?.markdown ?? "";

it("describes an operation with its fields, answers and a call of each kind", () => {
  const text = textOf("api/profiles");
  expect(text).toContain("## profiles.create\n\n`POST /profiles`\n\nCreate a profile.");
  expect(text).toContain("| `name` | string | **Required.** Unique \\| short. |");
  expect(text).toContain("| `size` | integer | Default: `3`. |");
  expect(text).toContain("- 201: [Profile](#Profile)\n- 400: an [error](../guide/errors.md)");
  expect(text).toContain('const result = await shoal.profiles.create({ name: "it\'s", "a-b": [1] });');
  expect(text).toContain(`-d '{"name":"it'\\''s","a-b":[1]}'\n\nshoal profiles create [name]`);
  // Explained once, in the guide.
  expect(text).not.toContain("Idempotency-Key");
});

it("describes a type once, on the page of the first area that uses it", () => {
  expect(textOf("api/profiles")).toMatch(
    /### Profile\n[^]*\[Tags\]\(#Tags\)[^]*### Tags\n\nLabels\.\n\nType: map of string/,
  );
  expect(textOf("api/browser-pools")).toContain("- 200: [Profile](profiles.md#Profile)");
  expect(textOf("api/browser-pools")).not.toContain("### Profile");
});

it("names the parts of forms as the service reads them, and escapes descriptions", () => {
  const text = textOf("api/browser-pools");
  expect(text).toContain("**Deprecated.** Upload \\<files>.");
  expect(text).toContain(`curl -X PUT "$SHOAL_BASE_URL/pools/$ID/files"`);
  expect(text).toContain("-F 'files[0][path]=TEXT' \\\n  -F 'files[0][file]=@FILE'");
});

it("lists all areas on its index", () => {
  expect(index.markdown).toContain("| [Browser Pools](browser-pools.md) | Warm browsers. | 1 |");
});
