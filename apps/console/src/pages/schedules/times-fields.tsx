import { TextInput } from "@mantine/core";
import { Suspense } from "react";
import type { Form } from "../../parts/forms/form-dialog.tsx";
import { lazyPart } from "../../parts/lazy-part.ts";

const NextTimes = lazyPart(() => import("./next-times.tsx"), "NextTimes");

type Field = ReturnType<Form<{ readonly cron: string }>["text"]>;

/** When a schedule is due, with a preview. */
export function TimesFields({ cron, timeZone }: { readonly cron: Field; readonly timeZone: Field }) {
  return (
    <>
      <TextInput
        label="Times"
        description="Minute, hour, day of the month, month, day of the week"
        {...cron}
        required
      />
      <TextInput label="Time zone" {...timeZone} required list="time-zones" />
      <datalist id="time-zones">
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Suspense>
        <NextTimes cron={cron.value} timeZone={timeZone.value} />
      </Suspense>
    </>
  );
}
