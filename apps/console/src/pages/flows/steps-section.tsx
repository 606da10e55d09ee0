import { Button, Group, List, Text } from "@mantine/core";
import "@mantine/core/styles/List.css";
import type { Flow } from "@shoal/schemas";
import { ArrowDown, ArrowUp, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Section } from "../../parts/detail/section.tsx";
import { type RowAction, RowMenu } from "../../parts/table/row-menu.tsx";
import { StepDialog } from "./step-dialog.tsx";
import { moved, parametersWith, type Step } from "./step-form.ts";
import { expectationTexts, stepText } from "./step-text.ts";

/** The steps in words, and a draft of the next version. */
export function StepsSection({ flow }: { readonly flow: Flow }) {
  const canOperate = useCanOperate();
  const [base, setBase] = useState<Flow>();
  const isChanging = base !== undefined;
  if (isChanging)
    return (
      <StepsDraft
        flow={base}
        close={() => {
          setBase(undefined);
        }}
      />
    );
  return (
    <Section
      title="Steps"
      actions={
        canOperate && (
          <Button
            size="xs"
            variant="default"
            leftSection={<Pencil size={14} aria-hidden />}
            onClick={() => {
              setBase(flow);
            }}
          >
            Change steps
          </Button>
        )
      }
    >
      <List type="ordered" spacing="xs" size="sm">
        {flow.steps.map((step, index) => (
          <List.Item key={index} style={{ overflowWrap: "anywhere" }}>
            <StepWords step={step} />
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

function StepWords({ step }: { readonly step: Step }) {
  return (
    <>
      {stepText(step)}
      {expectationTexts(step).map((text) => (
        <Text key={text} size="xs" c="dimmed">
          {text}
        </Text>
      ))}
    </>
  );
}

function StepsDraft({ flow, close }: { readonly flow: Flow; readonly close: () => void }) {
  const { shoal } = useSignedIn();
  const { id, version } = flow;
  const [steps, setSteps] = useState(flow.steps);
  const [changed, setChanged] = useState<number>();
  const save = useAction<undefined, Flow>({
    act: async () => {
      const latest = await shoal.flows.get(id);
      if (latest.version !== version)
        throw new Error(`Version ${String(latest.version)} was saved meanwhile. Cancel, and change that version.`);
      return shoal.flows.update(id, { steps, parameters: parametersWith(flow, steps) });
    },
    told: (saved) => `Version ${String(saved.version)} was saved.`,
    done: close,
    changes: [["flow", id], ["flows"]],
  });
  return (
    <Section
      title="Steps"
      actions={
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            size="xs"
            loading={save.isPending}
            disabled={steps.length === 0}
            onClick={() => {
              save.mutate(undefined);
            }}
          >
            Save as version {version + 1}
          </Button>
        </Group>
      }
    >
      <List
        type="ordered"
        spacing="xs"
        size="sm"
        styles={{ itemWrapper: { width: "100%" }, itemLabel: { width: "100%" } }}
      >
        {steps.map((step, index) => (
          <List.Item key={index} style={{ overflowWrap: "anywhere" }}>
            <Group justify="space-between" wrap="nowrap" align="start">
              <div>
                <StepWords step={step} />
              </div>
              <RowMenu
                label={`Actions for step ${String(index + 1)}`}
                actions={stepActions({
                  ...{ steps, index, setSteps },
                  change: () => {
                    setChanged(index);
                  },
                })}
              />
            </Group>
          </List.Item>
        ))}
      </List>
      <StepDialog
        key={changed}
        step={changed === undefined ? undefined : steps[changed]}
        change={(step) => {
          setSteps(steps.map((other, index) => (index === changed ? step : other)));
        }}
        close={() => {
          setChanged(undefined);
        }}
      />
    </Section>
  );
}

interface StepChanges {
  readonly steps: Flow["steps"];
  readonly index: number;
  readonly setSteps: (steps: Flow["steps"]) => void;
  readonly change: () => void;
}

function stepActions({ change, index, setSteps, steps }: StepChanges): RowAction[] {
  const moveTo = (place: number) => () => {
    setSteps(moved(steps, index, place));
  };
  return [
    { label: "Change", icon: Pencil, run: change },
    ...(index > 0 ? [{ label: "Move up", icon: ArrowUp, run: moveTo(index - 1) }] : []),
    ...(index < steps.length - 1 ? [{ label: "Move down", icon: ArrowDown, run: moveTo(index + 1) }] : []),
    {
      label: "Delete",
      icon: Trash2,
      isDangerous: true,
      run: () => {
        setSteps(steps.filter((_, other) => other !== index));
      },
    },
  ];
}
