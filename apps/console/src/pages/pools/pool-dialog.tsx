import { Checkbox, Group, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { BrowserPool, CreateBrowserPool } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { ProfileAndProxy } from "./profile-and-proxy.tsx";
import { VideoAndVaults, videoAndVaultsOf } from "./video-and-vaults.tsx";

interface PoolDialogProps {
  /** `undefined` = a new pool. */
  readonly pool?: BrowserPool;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (pool: BrowserPool) => void;
}

function initialOf(pool: BrowserPool | undefined) {
  const config = pool?.browser_pool_config;
  const { video } = config?.recording ?? {};
  return {
    name: pool?.name ?? "",
    size: String(config?.size ?? 2),
    fill_rate_per_minute: String(config?.fill_rate_per_minute ?? 25),
    timeout_seconds: String(config?.timeout_seconds ?? 600),
    start_url: config?.start_url ?? "",
    profile: pool?.profile_id ?? "",
    proxy_id: config?.proxy_id ?? "",
    headless: config?.headless ?? true,
    stealth: config?.stealth ?? false,
    video: video === undefined ? "" : video ? "on" : "off",
    vaults: (config?.vaults ?? []).map(({ id }) => id).join(" "),
    discard_all_idle: true,
  };
}
type Values = ReturnType<typeof initialOf>;

function bodyOf(values: Values) {
  const { name, start_url, profile, proxy_id, headless, stealth } = values;
  return {
    size: Number(values.size),
    fill_rate_per_minute: Number(values.fill_rate_per_minute),
    timeout_seconds: Number(values.timeout_seconds),
    headless,
    stealth,
    ...(name !== "" && { name }),
    ...(start_url !== "" && { start_url }),
    ...(profile !== "" && { profile: { id: profile } }),
    ...(proxy_id !== "" && { proxy_id }),
    ...videoAndVaultsOf(values),
  } satisfies CreateBrowserPool;
}

/** In an update, the values of empty fields. */
const removals = { start_url: "", profile: { id: "" }, proxy_id: "", recording: {}, vaults: [] };

export function PoolDialog({ pool, isOpen, close, done }: PoolDialogProps) {
  const { shoal } = useSignedIn();
  return (
    <FormDialog
      isOpen={isOpen}
      title={pool === undefined ? "New pool" : "Change the pool"}
      action={pool === undefined ? "Create" : "Save"}
      initial={initialOf(pool)}
      submit={(values: Values, initial: Values) =>
        pool === undefined
          ? shoal.browserPools.create(bodyOf(values))
          : shoal.browserPools.update(pool.id, {
              ...changedIn({ ...removals, ...bodyOf(initial) }, { ...removals, ...bodyOf(values) }),
              discard_all_idle: values.discard_all_idle,
            })
      }
      done={done}
      close={close}
    >
      {({ text, check, set, values }) => (
        <>
          <TextInput
            label="Name"
            description="Letters, digits, dots, underscores and hyphens"
            {...text("name")}
            required={pool === undefined}
            maxLength={255}
            data-autofocus
          />
          <Group grow align="flex-start">
            <TextInput label="Browsers" {...text("size")} required inputMode="numeric" pattern="[0-9]+" />
            <TextInput
              label="Starts a minute, in %"
              {...text("fill_rate_per_minute")}
              required
              inputMode="numeric"
              pattern="[0-9]+"
            />
          </Group>
          <TextInput
            label="Timeout of a leased browser without use, in seconds"
            {...text("timeout_seconds")}
            required
            inputMode="numeric"
            pattern="[0-9]+"
          />
          <TextInput label="Start page" placeholder="optional" {...text("start_url")} maxLength={2048} />
          <ProfileAndProxy text={text} />
          <VideoAndVaults
            text={text}
            vaults={values.vaults}
            setVaults={(vaults) => {
              set({ vaults });
            }}
          />
          <Checkbox label="Without a window (headless)" {...check("headless")} />
          <Checkbox label="Hide the signs of automation (stealth)" {...check("stealth")} />
          {pool !== undefined && (
            <Checkbox label="Replace the waiting browsers at once" {...check("discard_all_idle")} />
          )}
        </>
      )}
    </FormDialog>
  );
}
