import type { OutlineNode, PageOutline } from "@shoal/instance";
import type { FieldKind } from "../reading/field-kinds.ts";
import type { ReadForm } from "../reading/forms.ts";
import { isField, isShown } from "../reading/page-tree.ts";
import type { LoginModel } from "../reading/read-page.ts";

const kinds: ReadonlySet<string> = new Set<FieldKind>([
  "username",
  "email",
  "phone",
  "password",
  "new_password",
  "otp",
  "organization",
]);

/** Builds a form from the names that a model returns. Unknown names and references are ignored. */
export async function formFromModel(model: LoginModel, outline: PageOutline): Promise<ReadForm | undefined> {
  if (!outline.nodes.some(isField)) return undefined;
  const names = await model.nameNodes(outline);
  const named = (fits: (node: OutlineNode, name: string) => boolean): readonly OutlineNode[] =>
    outline.nodes.filter(
      (node) => isShown(node) && Object.hasOwn(names, node.ref) && fits(node, names[node.ref] ?? ""),
    );
  const fields = named((node, name) => isField(node) && kinds.has(name)).map((node) => {
    // The filter above left only these kinds.
    const kind = (names[node.ref] ?? "username") as FieldKind;
    return {
      kind,
      name: kind,
      label: node.name,
      nodes: [node],
      required: true,
      host: outline.frames[node.frame]?.host ?? "",
    };
  });
  if (fields.length === 0) return undefined;
  const [submit] = named((_node, name) => name === "submit");
  const purpose = fields.some(({ kind }) => kind === "otp") ? "code" : "login";
  return { purpose, fields, submit, block: undefined, score: 1 };
}
