import { SubmitLogin } from "@shoal/schemas";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type * as z from "zod/mini";
import { type Question, shownQuestion } from "./question.ts";
import { answerTo } from "./submitted-answer.ts";

const question: Question = {
  fields: [
    { name: "email", kind: "email", label: "E-mail", required: true },
    { name: "password", kind: "password", label: "Password", required: true },
    { name: "organization", kind: "organization", label: "Company", required: false },
  ],
  choices: [
    { id: "way-1", type: "mfa_method", label: "Another way", factor: "switch" },
    { id: "way-2", type: "mfa_method", label: "Text me", factor: "sms", target: "•••-4477" },
    { id: "way-3", type: "sso_provider", label: "Sign in with Google", provider: "google" },
    { id: "way-4", type: "account", label: "Ada" },
  ],
  refused: "Wrong password.",
};
const answer = (submitted: z.input<typeof SubmitLogin>) => answerTo(question, "q-1", SubmitLogin.parse(submitted));
const shown = shownQuestion(question);

describe("an answer to a login", () => {
  it.each([
    ["values by the id of the field", { field_values: { email: "a@b.c", password: "p" }, interaction_id: "q-1" }],
    ["values without the interaction's id", { field_values: { email: "a@b.c", password: "p" } }],
    ["values of older clients", { fields: { email: "a@b.c", password: "p" } }],
    ["the user name that documented programs send", { fields: { username: "a@b.c", password: "p" } }],
  ])("may be %s", (_what, submitted) => {
    expect(answer(submitted)).toEqual({ values: { email: "a@b.c", password: "p" } });
  });

  it.each([
    ["way-1", { selected_choice_id: "way-1", interaction_id: "q-1" }],
    ["way-2", { mfa_option_id: "sms" }],
    ["way-1", { mfa_option_id: "switch" }],
    ["way-3", { sso_provider: "google" }],
    ["way-3", { sso_button_selector: shown.pending_sso_buttons[0]?.selector ?? "" }],
    ["way-4", { sign_in_option_id: "way-4" }],
    ["way-4", { fields: {}, sign_in_option_id: "way-4" }],
  ])("may choose %s with %j", (choice, submitted) => {
    expect(answer(submitted)).toEqual({ choice });
  });

  it.each([
    ["body.field_values", {}],
    ["body.field_values", { fields: {} }],
    ["body.interaction_id", { interaction_id: "q-0", fields: { email: "a@b.c", password: "p" } }],
    ["body.fields", { fields: { password: "p" } }],
    ["body.fields", { fields: { email: "a@b.c", password: "" } }],
    ["body.fields", { fields: { email: "a@b.c", password: "p", pin: "1" } }],
    ["body.fields", { fields: { email: "a@b.c", username: "a", password: "p" } }],
    ["body.fields", { fields: { __proto__: null, constructor: "x" } }],
    ["body.selected_choice_id", { fields: { password: "p" }, selected_choice_id: "way-1" }],
    ["body.selected_choice_id", { selected_choice_id: "way-5" }],
    ["body.mfa_option_id", { mfa_option_id: "push" }],
    ["body.sign_in_option_id", { sign_in_option_id: "way-3" }],
  ])("is refused for %s in %j", (field, submitted) => {
    expect(answer(submitted as z.input<typeof SubmitLogin>)).toMatchObject({ field });
  });

  it("is refused without repeating its values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.constant("canary-value")), (fields) => {
        const result = answerTo(question, "q-1", { fields });
        if ("problem" in result) expect(result.problem).not.toContain("canary-value");
      }),
    );
  });
});

describe("a question", () => {
  it("fills the new fields and the arrays of older clients", () => {
    expect(shown.fields.map(({ id, reason, type }) => [id, type, reason])).toEqual([
      ["email", "identifier", "rejected"],
      ["password", "password", "rejected"],
      ["organization", "text", "rejected"],
    ]);
    expect(shown.discovered_fields.map(({ hint, name, type }) => [name, type, hint])).toEqual([
      ["email", "email", "Wrong password."],
      ["password", "password", "Wrong password."],
      ["organization", "text", "Wrong password."],
    ]);
    expect(shown.mfa_options).toEqual([
      { type: "sms", label: "Text me", target: "•••-4477" },
      { type: "switch", label: "Another way" },
    ]);
    expect(shown.sign_in_options).toEqual([{ id: "way-4", label: "Ada" }]);
    expect(shown.pending_sso_buttons).toMatchObject([{ provider: "google", label: "Sign in with Google" }]);
    expect(shown.choices.map(({ id }) => id)).toEqual(["way-2", "way-3", "way-4", "way-1"]);
    expect(shown.website_error).toBe("Wrong password.");
  });
});
