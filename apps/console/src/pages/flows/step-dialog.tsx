import { Fieldset, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import { type Form, FormDialog } from "../../parts/forms/form-dialog.tsx";
import {
  expectationFields,
  expectationKinds,
  expectationsOf,
  mostExpectations,
  type Step,
  valueOf,
  withValue,
} from "./step-form.ts";
import { stepText } from "./step-text.ts";

type Values = Record<string, string>;

interface StepDialogProps {
  readonly step: Step | undefined;
  readonly change: (step: Step) => void;
  readonly close: () => void;
}

const valueLabels: Readonly<Record<string, string>> = {
  select: "Options, one a line",
  press: "Keys, one a line",
  navigate: "Address",
  open_tab: "Address",
};

/** Changes a step of a draft. */
export function StepDialog({ step, change, close }: StepDialogProps) {
  const value = step && valueOf(step);
  const initial: Values = { value: value ?? "", on_divergence: step?.on_divergence ?? "stop" };
  const rows = Math.min((step?.expect.length ?? 0) + 1, mostExpectations);
  for (let index = 0; index < rows; index++) Object.assign(initial, expectationFields(step?.expect[index], index));
  return (
    <FormDialog
      isOpen={step !== undefined}
      title={step === undefined ? "Step" : stepText(step)}
      size="lg"
      action="Apply"
      initial={initial}
      submit={(values) => Promise.resolve(values)}
      done={(values) => {
        if (step === undefined) return;
        const { on_divergence: onDivergence = "stop", value: given = "" } = values;
        const changed = value === undefined ? step : withValue(step, given);
        change({
          ...changed,
          expect: expectationsOf(values),
          on_divergence: onDivergence as Step["on_divergence"],
        });
        close();
      }}
      close={close}
    >
      {(form) => (
        <>
          {value !== undefined && (
            <Textarea
              autosize
              label={valueLabels[step?.action ?? ""] ?? "Text"}
              description="{{name}} is the value of a parameter"
              {...form.text("value")}
              data-autofocus
            />
          )}
          <Fieldset legend="Expected afterwards">
            {Array.from({ length: rows }, (_, index) => (
              <ExpectationFields key={index} form={form} index={index} />
            ))}
          </Fieldset>
          <NativeSelect
            label="If the page differs"
            data={[
              { value: "stop", label: "Stop" },
              { value: "continue", label: "Go on with the next step" },
              { value: "wait", label: "Wait for a person" },
            ]}
            {...form.text("on_divergence")}
          />
        </>
      )}
    </FormDialog>
  );
}

function ExpectationFields({ form, index }: { readonly form: Form<Values>; readonly index: number }) {
  const number = String(index);
  const kind = form.values[`kind.${number}`];
  const states = kind === "element" ? ["visible", "hidden", "enabled", "disabled"] : ["visible", "hidden"];
  return (
    <Group gap="xs" mb="xs" align="end">
      <NativeSelect
        aria-label={`Kind of expectation ${String(index + 1)}`}
        data={[...expectationKinds]}
        {...form.text(`kind.${number}`)}
      />
      {kind === "element" && (
        <TextInput aria-label={`Role of expectation ${String(index + 1)}`} w={110} {...form.text(`role.${number}`)} />
      )}
      <TextInput
        aria-label={`Expectation ${String(index + 1)}`}
        style={{ flex: 1, minWidth: 140 }}
        placeholder="Empty: none"
        {...form.text(`value.${number}`)}
      />
      {kind !== "url" && (
        <NativeSelect
          aria-label={`State of expectation ${String(index + 1)}`}
          data={states}
          {...form.text(`state.${number}`)}
        />
      )}
    </Group>
  );
}
