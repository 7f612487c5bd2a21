// Types that several files of the page share and that JSDoc cannot write as shortly.

/** What `h()` takes as content; null, undefined and false are left out. */
type Child = Node | string | number | null | undefined | false | Child[];

/** The element that `h("button.main.slim")` makes: an HTMLButtonElement. */
type ElementOf<Name extends string> = Name extends `${infer Tag}.${string}`
  ? ElementOf<Tag>
  : Name extends keyof HTMLElementTagNameMap
    ? HTMLElementTagNameMap[Name]
    : HTMLElement;

/** Properties and attributes by name, and event handlers by `on` and the event's name. */
type Props<E extends Element = HTMLElement> = { [name: string]: unknown } & {
  [Event in keyof HTMLElementEventMap as `on${Event}`]?:
    | ((event: HTMLElementEventMap[Event] & { currentTarget: E }) => unknown)
    | null;
};

/** What a route of the API takes: the parts of its address, its query, its body. */
type RouteRequest<Route> = Omit<Route, "answer"> & { signal?: AbortSignal };
/** Arguments after the path: none are needed where the route takes nothing. */
type RouteArguments<Route> = {} extends Omit<Route, "answer"> ? [request?: RouteRequest<Route>] : [request: RouteRequest<Route>];
type RouteAnswer<Route> = Route extends { answer: infer Answer } ? Answer : never;

/** Where a page of the address bar begins: "#/games/12?turn=40" is games, ["12"], {turn: "40"}. */
interface Address {
  page: string;
  rest: string[];
  query: Record<string, string | undefined>;
}

/**
 * A page that is shown: `onKey` returns whether it used the key, `onPaste` whether it used a pasted text; `watches` keeps the
 * event stream of games open; `hasGameKeys`: a clicked control gives up the focus; `reconnect` goes on when the server is
 * back, else the page is opened anew.
 */
interface OpenPage {
  watches?: boolean;
  hasGameKeys?: boolean;
  onKey?(event: KeyboardEvent): boolean;
  onPaste?(text: string): boolean;
  reconnect?(): void;
  close?(): void;
}

/** What every file in pages/ exports. */
interface PageModule {
  open(main: HTMLElement, where: Address & { isHere: () => boolean }): Promise<OpenPage | void> | OpenPage | void;
}

/** What this page uses of plotly. */
interface Plotly {
  react(element: HTMLElement, data: object[], layout: object, config: object): Promise<unknown>;
  purge(element: HTMLElement): void;
}

declare var Plotly: Plotly | undefined;
