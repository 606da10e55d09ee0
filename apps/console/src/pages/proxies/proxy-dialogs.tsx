import { Group, NativeSelect, PasswordInput, Textarea, TextInput } from "@mantine/core";
import type { CreateProxy, Proxy } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { tell } from "../../parts/notices.ts";
import { type Form, FormDialog } from "../../parts/forms/form-dialog.tsx";

const types = [
  { value: "custom", label: "Own proxy server" },
  { value: "datacenter", label: "Data center of the operator" },
  { value: "isp", label: "Internet provider" },
  { value: "residential", label: "Residential" },
  { value: "mobile", label: "Mobile" },
] as const;
const protocols = [
  { value: "http", label: "HTTP" },
  { value: "https", label: "HTTP inside TLS (https)" },
  { value: "socks5", label: "SOCKS5" },
] as const;

const initial = {
  type: "custom",
  name: "",
  protocol: "http",
  bypass_hosts: "",
  "config.host": "",
  "config.port": "",
  "config.username": "",
  "config.password": "",
  "config.ca_bundle": "",
  "config.country": "",
  "config.state": "",
  "config.city": "",
};
type Values = typeof initial;

/** Fields of the configuration, by type. */
const places: Readonly<Record<string, readonly ("country" | "state" | "city")[]>> = {
  datacenter: ["country"],
  isp: ["country"],
  residential: ["country", "state", "city"],
  mobile: ["country", "state", "city"],
};

function bodyOf(values: Values): CreateProxy {
  const type = types.find(({ value }) => value === values.type)?.value ?? "custom";
  const protocol = protocols.find(({ value }) => value === values.protocol)?.value ?? "http";
  const filled = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = values[`config.${name}` as keyof Values];
        return value === "" ? [] : [[name, value]];
      }),
    );
  const hosts = values.bypass_hosts.split(/[\s,]+/).filter((host) => host !== "");
  return {
    type,
    ...(values.name !== "" && { name: values.name }),
    ...(hosts.length > 0 && { bypass_hosts: hosts }),
    ...(type === "custom"
      ? {
          protocol,
          config: {
            host: values["config.host"],
            port: Number(values["config.port"]),
            ...filled(["username", "password", "ca_bundle"]),
          },
        }
      : { config: filled(places[type] ?? []) }),
  };
}

interface CreateProxyDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** The fields follow the type. */
export function CreateProxyDialog({ isOpen, close }: CreateProxyDialogProps) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  return (
    <FormDialog
      isOpen={isOpen}
      title="New proxy"
      action="Create"
      initial={initial}
      submit={(values: Values) => shoal.proxies.create(bodyOf(values))}
      done={({ name, id = "" }) => {
        close();
        tell(`Proxy ${name ?? id} was created.`);
        void queries.invalidateQueries({ queryKey: ["proxies"] });
      }}
      close={close}
    >
      {(form) => (
        <>
          <NativeSelect label="Type" data={[...types]} {...form.text("type")} />
          <TextInput label="Name" placeholder="optional" {...form.text("name")} maxLength={255} data-autofocus />
          {form.values.type === "custom" ? <ServerFields form={form} /> : <PlaceFields form={form} />}
          <TextInput
            label="Hosts without the proxy"
            description="Host names, separated by commas"
            placeholder="optional"
            {...form.text("bypass_hosts")}
          />
        </>
      )}
    </FormDialog>
  );
}

function ServerFields({ form: { text } }: { readonly form: Form<Values> }) {
  return (
    <>
      <NativeSelect label="Protocol" data={[...protocols]} {...text("protocol")} />
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <TextInput label="Host" {...text("config.host")} required maxLength={253} />
        <TextInput label="Port" {...text("config.port")} required inputMode="numeric" pattern="[0-9]+" maw={110} />
      </Group>
      <Group align="flex-start" grow>
        <TextInput label="User name" placeholder="optional" {...text("config.username")} autoComplete="off" />
        <PasswordInput
          label="Password"
          placeholder="optional"
          {...text("config.password")}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Show the password", tabIndex: 0 }}
        />
      </Group>
      <Textarea
        label="Certificates of its authority"
        description="PEM, for a proxy that opens TLS"
        placeholder="optional"
        {...text("config.ca_bundle")}
        rows={2}
      />
    </>
  );
}

const placeLabels = { country: "Country, such as DE", state: "State, such as CA", city: "City" } as const;

function PlaceFields({ form: { text, values } }: { readonly form: Form<Values> }) {
  return (places[values.type] ?? []).map((name) => (
    <TextInput key={name} label={placeLabels[name]} placeholder="optional" {...text(`config.${name}`)} />
  ));
}

interface RenameProxyDialogProps extends CreateProxyDialogProps {
  readonly proxy: Proxy;
}

export function RenameProxyDialog({ proxy, isOpen, close }: RenameProxyDialogProps) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  return (
    <FormDialog
      isOpen={isOpen}
      title="Rename the proxy"
      action="Rename"
      initial={{ name: proxy.name ?? "" }}
      submit={(values) => shoal.proxies.update(proxy.id ?? "", values)}
      done={() => {
        close();
        void queries.invalidateQueries({ queryKey: ["proxies"] });
      }}
      close={close}
    >
      {({ text }) => <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />}
    </FormDialog>
  );
}
