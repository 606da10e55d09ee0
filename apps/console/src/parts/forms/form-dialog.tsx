import { Button, Group, Modal, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, type ReactNode, type SyntheticEvent, useEffect, useRef, useState } from "react";
import { Failure } from "../states.tsx";
import { fieldErrorsOf } from "./field-errors.ts";

/** Values by the path of their field in the request's body: `name`, `config.host`. */
export type FormValues = Readonly<Record<string, string | boolean>>;

type ChangeOf<Element> = (event: ChangeEvent<Element>) => void;
type AnyField = HTMLInputElement & HTMLSelectElement & HTMLTextAreaElement;

export interface Form<Values extends FormValues> {
  readonly values: Values;
  /** The values when the dialog was opened. */
  readonly initial: Values;
  readonly set: (changes: Partial<Values>) => void;
  /** Properties of a text field or a list of options. */
  readonly text: (name: keyof Values & string) => {
    readonly value: string;
    readonly onChange: ChangeOf<AnyField>;
    readonly error: string | undefined;
  };
  /** Properties of a check box or a switch. */
  readonly check: (name: keyof Values & string) => {
    readonly checked: boolean;
    readonly onChange: ChangeOf<HTMLInputElement>;
    readonly error: string | undefined;
  };
}

interface FormDialogProps<Values extends FormValues, Result> {
  readonly isOpen: boolean;
  readonly title: string;
  /** Width. Default: that of all dialogs. */
  readonly size?: "lg";
  /** Text of the button: `Create`. */
  readonly action: string;
  readonly initial: Values;
  /** @param initial - the values when the dialog was opened; programs may have changed the resource since then. */
  readonly submit: (values: Values, initial: Values) => PromiseLike<Result>;
  readonly done: (result: Result) => void;
  readonly close: () => void;
  /** The fields. */
  readonly children: (form: Form<Values>) => ReactNode;
}

/** A dialog with fields. Refusals of the service appear at the field that they name, others above the buttons. */
export function FormDialog<Values extends FormValues, Result>({
  isOpen,
  title,
  size,
  close,
  ...form
}: FormDialogProps<Values, Result>) {
  return (
    <Modal opened={isOpen} onClose={close} title={title} {...(size !== undefined && { size })}>
      <DialogForm {...form} close={close} />
    </Modal>
  );
}

/** A separate component, so that each opening starts with the initial values. */
function DialogForm<Values extends FormValues, Result>({
  action,
  initial: given,
  submit,
  done,
  close,
  children,
}: Omit<FormDialogProps<Values, Result>, "isOpen" | "size" | "title">) {
  const element = useRef<HTMLFormElement>(null);
  const [initial] = useState(given);
  const [values, setValues] = useState(initial);
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => submit(values, initial),
    onSuccess: done,
  });
  const errors = fieldErrorsOf(error);
  const isShownAtField = Object.keys(initial).some((name) => errorAt(errors, name) !== undefined);
  useEffect(() => {
    if (error !== null) element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const set = (changes: Partial<Values>) => {
    setValues((before) => ({ ...before, ...changes }));
  };
  const form: Form<Values> = {
    values,
    initial,
    set,
    text: (name) => ({
      value: String(values[name]),
      onChange: ({ currentTarget: { value } }) => {
        setValues((before) => ({ ...before, [name]: value }));
      },
      error: errorAt(errors, name),
    }),
    check: (name) => ({
      checked: values[name] === true,
      onChange: ({ currentTarget: { checked } }) => {
        setValues((before) => ({ ...before, [name]: checked }));
      },
      error: errorAt(errors, name),
    }),
  };
  return (
    <form
      ref={element}
      onSubmit={(event: SyntheticEvent) => {
        event.preventDefault();
        mutate();
      }}
    >
      <Stack>
        {children(form)}
        {error !== null && !isShownAtField && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The problem of a field, or of a part of it: `tags` has the problem of `tags.team`. */
function errorAt(errors: ReadonlyMap<string, string>, name: string): string | undefined {
  const path = [...errors.keys()].find(
    (path) => path === name || (/^[.[]/.test(path.slice(name.length)) && path.startsWith(name)),
  );
  return path === undefined ? undefined : errors.get(path);
}
