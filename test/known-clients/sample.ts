import { readClients } from "../../supergraph/clients/clients.ts";

/** An API with each kind of type. */
export const sampleApi = `
directive @compact(level: Int = 1, mode: Mode) on FIELD | QUERY
scalar DateTime
enum Mode { SMALL LARGE }
enum Status { DRAFT SENT PAID }
enum Channel { MAIL PHONE POST }
interface Node { id: ID! }
interface Priced implements Node { id: ID! price(currency: String = "EUR", rounded: Boolean): Float! }
type Book implements Node & Priced {
  id: ID! price(currency: String = "EUR", rounded: Boolean): Float! title: String! pages: Int subtitle: String tags: [String!]! author: Author
}
type Ticket implements Node & Priced {
  id: ID! price(currency: String = "EUR", rounded: Boolean): Float! gate: String day: DateTime!
}
type Author implements Node { id: ID! name: String! books(first: Int! = 10, after: ID, status: Status): [Book!] born: DateTime }
type Note { text: String! }
union Hit = Book | Author | Note
type Line { item: Priced! count: Int! }
type Order implements Node { id: ID! status: Status! lines: [Line!]! channel: Channel placed: DateTime note: Note }
type Page { items: [Order!]! next: String total: Int! }
input Range { from: DateTime! to: DateTime limit: Int! = 5 }
input Filter { statuses: [Status!] range: Range text: String words: [String] nested: Filter }
input LineInput { item: ID! count: Int = 1 wrapping: Wrapping }
enum Wrapping { NONE PAPER }
input OrderInput { lines: [LineInput!]! channel: Channel = MAIL note: String }
input By { id: ID isbn: String }
input Unused { a: Int }
type Query {
  node(id: ID!): Node
  search(text: String!, first: Int = 5, filter: Filter): [Hit!]!
  orders(filter: Filter, page: Int! = 1, size: Int): Page
  order(id: ID!): Order
  author(id: ID!): Author
  book(by: By!): Book
  modes: [Mode!]!
  unused(input: Unused): Int
}
type Mutation {
  place(input: OrderInput!): Order
  cancel(id: ID!, reason: String): Boolean!
  rate(book: ID!, stars: Int!): Book
}
schema { query: Query mutation: Mutation }
`;

const web = {
  Search: `query Search($text: String!, $n: Int) { search(text: $text, first: $n) { __typename ... on Book { ...B } ... on Author { name born } ... on Note { text } } } fragment B on Book { id title price(currency: "USD") }`,
  Orders: `query Orders($f: Filter) { orders(filter: $f, page: 2) { items { id status lines { count item { id price ... on Ticket { gate day } } } } next } }`,
  Place: `mutation Place($input: OrderInput!) { place(input: $input) { id channel placed } }`,
  Author: `query Author($id: ID!, $s: Status) { author(id: $id) { name books(first: 3, status: $s) { title tags } } }`,
};
const app = {
  Drafts: `query Drafts { orders(filter: { statuses: [DRAFT, PAID], range: { from: "x" }, nested: { text: "t" } }) { total items { status note { text } } } }`,
  Node: `query Node($id: ID!) { node(id: $id) { id ... on Priced { price(rounded: true) } ... on Book { subtitle author { name } } } }`,
  Cancel: `mutation Cancel($id: ID!, $why: String) { cancel(id: $id, reason: $why) }`,
  Gift: `mutation Gift($id: ID!, $n: Int = 2) { place(input: { lines: [{ item: $id, count: $n, wrapping: PAPER }], channel: PHONE }) { status } }`,
};
const tool = {
  Ranged: `query Ranged($r: Range, $m: Mode, $size: Int) @compact(level: 2) { orders(filter: { range: $r }, size: $size) { total } modes @compact(mode: $m) }`,
  Book: `query Book($by: By!) { book(by: $by) { id pages price author { id books(after: "b") { id } } } }`,
  Rate: `mutation Rate($book: ID!, $stars: Int!) { rate(book: $book, stars: $stars) { pages } }`,
  Modes: `{ modes }`,
};

const descriptor = JSON.stringify({ owner: "@acme/team", contact: "team@acme.example" });
const files: Readonly<Record<string, string>> = {
  "clients/web/client.json": descriptor,
  "clients/web/3.json": JSON.stringify({
    format: "apollo-persisted-query-manifest",
    version: 1,
    operations: Object.entries(web).map(([name, body]) => ({ id: `web-${name}`, name, type: "query", body })),
  }),
  "clients/app/client.json": descriptor,
  "clients/app/1.json": JSON.stringify(app),
  "clients/tool/client.json": descriptor,
  "clients/tool/tool.graphql": Object.values(tool).join("\n").replace("{ modes }", "query Modes { modes }"),
};

export const sampleClients = readClients({
  list: () => Object.keys(files),
  read: (path) => files[path],
});
