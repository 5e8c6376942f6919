import type { SupergraphCase } from "../supergraph-case.ts";

const albums = [
  { id: "a1", year: 1959 },
  { id: "a2", year: 1971 },
];
const tracks = [
  { id: "t1", title: "So What", seconds: 545, album: albums[0] },
  { id: "t2", title: "Blue", seconds: 183, album: albums[1] },
  { id: "t3", title: "Carey", seconds: 182, album: albums[1] },
];
const lists = [
  { name: "slow", tracks: [tracks[0], tracks[1]] },
  { name: "fast", tracks: [tracks[2]] },
  { name: "none", tracks: [] },
];

interface TrackKey {
  readonly id: string;
}
interface ListKey {
  readonly tracks: readonly TrackKey[];
}
const ids = (list: ListKey) => list.tracks.map(({ id }) => id).join();
const isList = (key: ListKey) => (list: (typeof lists)[number]) => ids(list as ListKey) === ids(key);
const secondsOf = (key: ListKey) =>
  key.tracks.reduce((sum, { id }) => sum + (tracks.find((track) => track.id === id)?.seconds ?? 0), 0);

/** Keys with lists in them: a list of tracks is known by its tracks, in one subgraph by their albums, too. */
export const keysLists: SupergraphCase = {
  name: "keys-lists",
  subgraphs: [
    {
      name: "lists",
      typeDefs: `
        type Query { lists: [PlayList!] }
        type PlayList @key(fields: "tracks { id }") { tracks: [Track!]! @shareable name: String }
        type Track @key(fields: "id") { id: ID! }
      `,
      resolvers: {
        Query: { lists: () => lists },
        PlayList: { __resolveReference: (key: ListKey) => lists.find(isList(key)) },
      },
    },
    {
      name: "lengths",
      typeDefs: `
        type PlayList @key(fields: "tracks { id }") { tracks: [Track!]! @shareable seconds: Int }
        type Track @key(fields: "id") { id: ID! title: String album: Album @shareable }
        type Album @shareable { id: ID! year: Int }
      `,
      resolvers: {
        PlayList: {
          __resolveReference: (key: ListKey) => ({ ...lists.find(isList(key)), seconds: secondsOf(key) }),
        },
        Track: { __resolveReference: ({ id }: TrackKey) => tracks.find((track) => track.id === id) },
      },
    },
    {
      name: "covers",
      typeDefs: `
        type PlayList @key(fields: "tracks { id album { id } }") { tracks: [Track!]! @shareable cover: String }
        type Track @key(fields: "id album { id }") { id: ID! album: Album @shareable }
        type Album @shareable { id: ID! }
      `,
      resolvers: {
        PlayList: {
          __resolveReference: (key: { tracks: { album: { id: string } }[] }) => ({
            ...key,
            cover: key.tracks.map(({ album }) => album.id).join("+"),
          }),
        },
      },
    },
  ],
  monolith: {
    Query: { lists: () => lists },
    PlayList: {
      seconds: secondsOf,
      cover: (list: { tracks: { album: { id: string } }[] }) => list.tracks.map(({ album }) => album.id).join("+"),
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "a list in a key is sent whole, an empty one too",
      query: "{ lists { name seconds } }",
      expected: {
        data: {
          lists: [
            { name: "slow", seconds: 728 },
            { name: "fast", seconds: 182 },
            { name: "none", seconds: 0 },
          ],
        },
      },
    },
    {
      name: "what a list's entries need for the key is fetched first",
      query: "{ lists { cover tracks { title } } }",
      expected: {
        data: {
          lists: [
            { cover: "a1+a2", tracks: [{ title: "So What" }, { title: "Blue" }] },
            { cover: "a2", tracks: [{ title: "Carey" }] },
            { cover: "", tracks: [] },
          ],
        },
      },
    },
  ],
};
