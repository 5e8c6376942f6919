import { type Fault, respondJson, type RunningSubgraph, startSubgraph } from "./subgraphs.ts";

/** The body of a request to `stars`. */
interface RatingsRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly extensions?: { readonly cacheMetadata?: boolean };
}

/** What a test changes of the subgraphs. */
interface BooksState {
  /** The stars of each book, by ISBN. */
  ratings: Record<string, number>;
  /** Books that only callers with a token see. */
  readonly hidden: Set<string>;
  /** Books whose stars are an error. */
  readonly broken: Set<string>;
  /** Returns the cache metadata of a response of `stars`; by default that of a service of this platform. */
  metadataOf: (request: RatingsRequest) => object | undefined;
  /** Responses of `stars` to the requests from now on are sent after it is resolved. */
  released: Promise<unknown>;
}

/** Two subgraphs: `shelf` has three books, `stars` rates them, and sends cache metadata like a service of this platform. */
export interface RatedBooks extends BooksState {
  /** After `start`. */
  readonly shelf: RunningSubgraph;
  /** After `start`. */
  readonly stars: RunningSubgraph;
  start(): Promise<void>;
  close(): Promise<void>;
  /** Restores the initial state. */
  reset(): void;
  /** Holds the responses of `stars` to requests from now on. @returns a function that releases them. */
  hold(): () => void;
  /** The books and the caller of each request to `stars`: a demo user, `anonymous`, or a token that is no JWT. */
  sent(): readonly (readonly [isbns: string, caller: string])[];
  /** Responds with cache metadata if the request asks for it. `stars` does so by default. */
  readonly respondWithMetadata: Fault;
}

/** The user ids of the callers. */
export const userIds: Readonly<Record<string, string>> = { ada: "1", grace: "2", linus: "3" };

export function createRatedBooks(): RatedBooks {
  let shelf: RunningSubgraph;
  let stars: RunningSubgraph;
  const books: RatedBooks = {
    ...createState(),
    get shelf() {
      return shelf;
    },
    get stars() {
      return stars;
    },
    async start() {
      [shelf, stars] = await Promise.all([startShelf(), startStars(books)]);
    },
    close: async () => void (await Promise.all([shelf.close(), stars.close()])),
    reset() {
      Object.assign(books, createState());
      stars.fault = books.respondWithMetadata;
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      books.released = promise;
      return resolve;
    },
    sent: () => stars.requests.map(({ body, headers }) => [isbnsOf(body).join(" "), callerOf(headers.authorization)]),
    async respondWithMetadata(response, body: RatingsRequest, _request, resolve) {
      const { released } = books;
      const result = await resolve();
      const isRequested = body.extensions?.cacheMetadata === true;
      const cache = isRequested && !result.errors ? books.metadataOf(body) : undefined;
      await released;
      respondJson(response, 200, JSON.stringify({ ...result, ...(cache && { extensions: { cache } }) }));
    },
  };
  return books;
}

function createState(): BooksState {
  const hidden = new Set<string>();
  return {
    ratings: { b1: 1, b2: 2, b3: 3 },
    hidden,
    broken: new Set(),
    metadataOf: (request) => toMetadata(request, hidden),
    released: Promise.resolve(),
  };
}

/** Undefined if the response depends on the caller. */
function toMetadata(request: RatingsRequest, hidden: ReadonlySet<string>): object | undefined {
  const isbns = isbnsOf(request);
  if (/secret\b|\bme\b/.test(request.query) || isbns.some((isbn) => hidden.has(isbn))) return undefined;
  const lists = Object.entries(request.variables ?? {}).filter(([, list]) => Array.isArray(list));
  const entities = lists.map(([variable, list]) => [
    variable.replace("representations", "_entities"),
    (list as readonly { readonly isbn: string }[]).map(({ isbn }) => [`stars:${isbn}`]),
  ]);
  const groups = isbns.map((isbn) => `stars:${isbn}`);
  return { seconds: 10, staleIfErrorSeconds: 60, groups, entities: Object.fromEntries(entities) };
}

function isbnsOf({ variables }: RatingsRequest): readonly string[] {
  return Object.values(variables ?? {}).flatMap((list) =>
    Array.isArray(list) ? list.map(({ isbn }) => isbn as string) : [],
  );
}

function callerOf(authorization: string | undefined): string {
  const [, payload] = authorization?.split(".") ?? [];
  if (authorization === undefined) return "anonymous";
  if (payload === undefined) return authorization.replace("Bearer ", "");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { readonly sub: string };
  return Object.keys(userIds).find((name) => userIds[name] === sub) ?? "unknown";
}

function startShelf(): Promise<RunningSubgraph> {
  const books = ["b1", "b2", "b3"].map((isbn) => ({ isbn }));
  return startSubgraph({
    name: "shelf",
    typeDefs: `
      type Query { books: [Book] best: Book }
      type Mutation { stock: Book }
      type Book @key(fields: "isbn") { isbn: ID! }
    `,
    resolvers: { Query: { books: () => books, best: () => books[1] }, Mutation: { stock: () => books[0] } },
  });
}

interface Context {
  readonly headers: { readonly authorization?: string };
}

function startStars(books: BooksState): Promise<RunningSubgraph> {
  const nameOf = ({ headers }: Context) => callerOf(headers.authorization);
  return startSubgraph({
    name: "stars",
    typeDefs: `
      type Query { greeting: String me: String }
      type Mutation { rate(isbn: ID!, stars: Int!): Book }
      type Book @key(fields: "isbn") { isbn: ID! stars(plus: Int): Int secret: String secretless: String }
    `,
    resolvers: {
      Query: {
        greeting: () => "hello",
        me: (_: unknown, __: unknown, context: Context) => (nameOf(context) === "anonymous" ? null : nameOf(context)),
      },
      Mutation: {
        rate: (_: unknown, rating: { isbn: string; stars: number }) => {
          books.ratings[rating.isbn] = rating.stars;
          return { isbn: rating.isbn };
        },
      },
      Book: {
        __resolveReference: ({ isbn }: { isbn: string }, context: Context) =>
          books.hidden.has(isbn) && nameOf(context) === "anonymous" ? null : { isbn },
        stars: ({ isbn }: { isbn: string }, { plus = 0 }: { plus?: number }) => {
          if (books.broken.has(isbn)) throw Object.assign(new Error("no stars"), { extensions: { code: "NOT_FOUND" } });
          return (books.ratings[isbn] ?? 0) + plus;
        },
        secret: ({ isbn }: { isbn: string }, _: unknown, context: Context) => `${isbn} of ${nameOf(context)}`,
        secretless: ({ isbn }: { isbn: string }) => isbn,
      },
    },
  });
}
