import * as F from "@fluentui/react-components";
import { done, show } from "./show.jsx";

show(
  {
    dropdown: () => (
      <F.Field label="Colour">
        <F.Dropdown onOptionSelect={(_, d) => done(d.optionValue)}>
          {["Red", "Green"].map((c) => (
            <F.Option key={c}>{c}</F.Option>
          ))}
        </F.Dropdown>
      </F.Field>
    ),
    combobox: () => (
      <F.Field label="City">
        <F.Combobox onOptionSelect={(_, d) => done(d.optionValue)}>
          {["Lisbon", "London"].map((c) => (
            <F.Option key={c}>{c}</F.Option>
          ))}
        </F.Combobox>
      </F.Field>
    ),
    menu: () => (
      <F.Menu>
        <F.MenuTrigger>
          <F.Button>Insert</F.Button>
        </F.MenuTrigger>
        <F.MenuPopover>
          <F.MenuList>
            <F.MenuItem onClick={() => done("row")}>Row</F.MenuItem>
            <F.MenuItem>Column</F.MenuItem>
          </F.MenuList>
        </F.MenuPopover>
      </F.Menu>
    ),
    dialog: () => (
      <F.Dialog>
        <F.DialogTrigger>
          <F.Button>Invite</F.Button>
        </F.DialogTrigger>
        <F.DialogSurface>
          <F.DialogBody>
            <F.DialogTitle>Invite a person</F.DialogTitle>
            <F.DialogContent>
              <F.Field label="Mail">
                <F.Input onChange={(_, d) => done(d.value)} />
              </F.Field>
            </F.DialogContent>
          </F.DialogBody>
        </F.DialogSurface>
      </F.Dialog>
    ),
    switch: () => <F.Switch label="Wifi" onChange={(_, d) => done(d.checked)} />,
    "spin button": () => (
      <F.Field label="Guests">
        <F.SpinButton defaultValue={3} onChange={(_, d) => done(d.value ?? d.displayValue)} />
      </F.Field>
    ),
    tree: () => (
      <F.Tree aria-label="Files">
        <F.TreeItem itemType="branch" value="docs">
          <F.TreeItemLayout>Documents</F.TreeItemLayout>
          <F.Tree>
            <F.TreeItem itemType="leaf" value="invoice" onClick={() => done("invoice")}>
              <F.TreeItemLayout>Invoice</F.TreeItemLayout>
            </F.TreeItem>
          </F.Tree>
        </F.TreeItem>
      </F.Tree>
    ),
    tabs: () => (
      <F.TabList onTabSelect={(_, d) => done(d.value)}>
        <F.Tab value="one">Overview</F.Tab>
        <F.Tab value="two">History</F.Tab>
      </F.TabList>
    ),
  },
  ({ children }) => <F.FluentProvider theme={F.webLightTheme}>{children}</F.FluentProvider>,
);
