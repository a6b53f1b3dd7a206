// Names that look like other names: see internal/lookalike, which does the same and
// makes the table below from Unicode's confusables.txt.

const unseen = /[\p{Mn}\p{Me}\p{Cf}\u115f\u1160\u3164\uffa0]/u;
const same = { 0: "o", 1: "l", i: "l", "|": "l", ".": "-", _: "-", " ": "-", "`": "'" };
const scripts = "Latin Greek Cyrillic Armenian Cherokee Coptic Georgian Hebrew Lisu"
  .split(" ")
  .map((name) => new RegExp(`\\p{Script=${name}}`, "u"));
let table;

// skeleton is the same for names that look alike. It is for comparing, not for reading.
export function skeleton(name) {
  table ??= decode(encoded);
  let s = "";
  for (const c of String(name).normalize("NFKD")) {
    if (c < "\x80") {
      const low = c.toLowerCase();
      s += same[low] ?? low;
    } else if (!unseen.test(c)) {
      s += table.get(c) ?? c;
    }
  }
  return s.replaceAll(/rn|vv/g, (two) => (two === "rn" ? "m" : "w"));
}

// confusable is the first of some names that looks like a name and is another one.
export function confusable(name, among) {
  const own = skeleton(name);
  return among.find((other) => other !== name && skeleton(other) === own);
}

// mixed says whether a name has letters of several scripts that look alike.
export function mixed(name) {
  return scripts.filter((s) => s.test(name)).length > 1;
}

function decode(text) {
  const all = new Map();
  for (const group of text.split(" ")) {
    const [like, chars] = group.split(":");
    const word = String.fromCodePoint(...like.split(".").map((n) => parseInt(n, 36)));
    let at = 0;
    for (const distance of chars.split(",")) all.set(String.fromCodePoint((at += parseInt(distance, 36))), word);
  }
  return all;
}

// Groups of what is looked like, and all that do, by their distances, in base 36.
const encoded =
  "x:cj,8lq 10:2q6n 12:x2w 13:jd,2,1,1,1,a,2,1,15,h2,3,3g,q,e9,1,2fp,hu,1u4,1,2,n,3,qqf,13gl,1 13.13:je,1g,8,l8,2,4in,nd,1,2,350 13.2q:ap 13.2s" +
  ":ay 13.34:bo 13.38:bw 13.3d:c3 14:7s8,a,1pe,14iy 14.14:948 15:7s9,a,1pe,14iy 15.15:949 16:19p,541,cp,18g8 17:4j1,27b,135,i5,1,1,1,1,16r9,193" +
  "i 17.1e:8br 18:171,2m,52n,q8v 19:k7,p5,38,s,h,1,6w,2va,1w0,2,1,l,1,q,cv,12,126,ib,1,i0,1,7,1,9r,nha,7q,jsy,13bx 19.18:wl7 19.19:wl6,4 1b:4l1" +
  ",1sc,3,cx,nw,gq,ff,2,jy,1,oc,4b,79,5m4,24mz 1b.1b:8hp 1b.1b.1b:8hn 1e:br,k,fh,3br,sqt,4r,2z,1lzs 1f:c7,2t,e3,3l,20,w9,ao,6nn,14,8,o7y,1t,mcf" +
  ",h2p,iig,103 1g:3wu,1fj5,zlx 1g.53:46o 1h:cc,1j3z,zlm 1i:rw,1x,33x,4x0,1,9,1am1,zkx 1j:1fiq,3xw,zld,10b 1k:f6,1,1jb,3k,49,1d07,13vi,5hv 1l:1" +
  "yl,3e,75,ed,671,1,o83,mda,w,a,zkz 1m:k0,14,i9,1m,8w,1,e7,ao,2g9,7r,6,1n5,d8,ptz,i4,ndc 1m.6mq:8ac 1o:jm,3g6,hm,1vr,1f9,2caw 1o.1o:6sq 1o.1o." +
  "1o:6vs 1o.53:405,2vl,1y6,1 1p:3y8,2ts,1,6,2,1,4,1lc,88,iy,gw,mzj 1q:jn,3g0,2dj,1f9,1sr4,jjs 1q.1o:8f9 1q.1q:6sr,1it 1q.1q.1q:6vt 1q.53:401 1" +
  "r:g1,2b,1d5,20h,t31 2k:6qe,14n,fc,4,1jv,5lu,24m1,18 2k.2k:762,1pr 2k.40l:7uw 2m:jo,2 2p:gh,8w,w,2n,w,322,ez,2pd,4,pkk,iia,lgg,ihi 2p.2p:x0y," +
  "1 2p.2t:5i,w,ry,1 2p.33:x10,1 2p.36:2rd3 2p.39:x12,1 2p.3a:x14,1,1,1 2p.3d:x18,1 2q:ao,2,1,1,5r,8v,3j,1,q,1i,1,15,1,30i,11,3i,1,8s,20,4gb,nr" +
  "i,kk,hxq,v,2o,l9x,ild 2q.13:420 2q.30:tn 2q.53:41r,2 2r:4i,be,dh,w,2x,1,28p,2e,p1,1t1,pp,2df,1,nqt,1cl,h6b,2o,7n,14,67,3wt,9,zja,786,15q 2r." +
  "13:av 2r.2r.9:2q99 2s:5s,1s,1,3c,3,5m,1,iy,2vz,1z,3s,a7,c,24h,q3r,1,1mh2 2s.13:41z 2s.3e:ir 2s.53:41n 2s.f1:is 2s.i9:it 2t:g6,1,9a,3k,w,3s,2" +
  ",2y5,2o2,cx,20q,nnb,18i,h90,4dc,8,zl8 2u:b5,1,ga,bs,374,1iy,8f,qio,jf,1,po,h8y,u,hs,3ul,w,zkp,114 2u.32:ix 2v:b1,2f,1,3f,1,iz,39,2tb,1f,1w0," +
  "qqb,1mh2 2v.13:b7 2w:86,1,8v,8h,3q,1q,1z,p,c,2,4n,2tn,7,1c,ay,4iz,13,nrt,by,i7u,13wu 2y:g8,1,8m,38,l,28,30z,6a,si4,k9,1lwt 2y.53:42h 2z:bd,e" +
  "9,3k,3k,4,30o,kv,1y0,2bg,17,nr7,h5,ijc,13go 2z.13:bc 30:8h,g,1,2c,1,3,12,4o,1,1,1,2,8c,w,25,28,2y,f,4z,1q,l,a,20,1m,i,3i,61,2cb,1l,5o,ev,1bu" +
  ",1,x3,9c,5,3p,1p1,1,1p,3j,nma,h,9h,10u,h79,3j,n,6z,7f,3ul,f,h,107,7,fyh,30,i,iie,3,g,115,4gt 30.13:169 30.30:ch,tr,55y,en,1850 30.30.37:1evs" +
  " 30.33:tq,69m 30.37:iy 30.38:6gm 30.3e:iz 30.53:43b 30.f1:ha 30.19w:19u 31:po,2m,y,4x,2y2,ft,6e,4aq,nrb,ij5,2p,13v5 31.2q:2rfv 32:97,2a,1,5x" +
  ",8a,q,cb,6,4,4qc,2zu,nra,ib2,p1,13gw 33:60,w,4n,5y,83,7,p,7,4,16,1d,w,1g,1,39,1,30,1c,2k,2u,u,2h,3,k,w,a,5d,bq,3k,3k,3k,1m,1y,3k,s,2s,s,2s,s" +
  ",u,1y,s,5q,3k,99,z,5b,cx,6m,19,s5,10v,2,139,7,5r,1t0,1,d,1,42,g,j,j7,n3g,gn,1,s2,1,1i,q,19,h5j,p,9l,14,46,14,18,33u,rp,j,f,9,zk,ykk,c,10q,7a" +
  "y 33.13:3vo 33.1b.33:19m,548 33.1b.33.33:16x,55z 33.1b.33.33.33:16y,55z 33.2t:9e,1 33.33:6qm,q62,1,51,1 33.2ls.33:2n3 33.370:368,5j 33.5qf:h" +
  "i 34:72,4n,q,de,w,1j,14,w,336,3v,1sg,16f,1ta,1,17,1,npe,iis,13yo 34.13:41y 34.53:41j 35:io,hn,20,3,7vz,2a35 35.2t:2rcw 36:bq,4n,1b,1,c6,2o,2" +
  "z2,1d,c5,1i7,24,2z7,nry,19g,1,1l,hmb,l1d,iia,10v 36.13:wh 36.32:hd,5by,mu,1cnv,df 37:cd,5h,ar,28,6y,1jk,1bq,5,1wa,qr2,gf,vt,h64,ay,14,41l,h2" +
  "x,ii6 37.37.37:2rfg 38:9y,1,1y,1,40,9y,3i,3u,2ye,1xv,mx,dy,59,vs,y5,nqm,iir,q,2s,49z,h1q,ijj,8e7 38.1f:x0o 38.2u:x2v 38.37:iu 38.f1:x0p 38.g" +
  "l:iw 38.hv:iv 39:g4,1z,8q,4a,6m,1c,2gz,cs,3k,1qo,2q,x8,49,ppt,iz,q7,4,22,hma,14,3wi,w,h2i,ii0 39.13:413 39.2t:5t7 39.33:xur 39.53:40o 3a:ql," +
  "53,1,9v,3z,40,2jm,2e,1rl,zs,49,22f,nn2,e1,y2,gz2,p2,3jd,be,w,h1k,ijn,10i,7az 3a.2q:2rfw 3a.53:3zv 3b:hb,d5,p,s,4f,1,1w,2tu,x,1u5,p4,2dw,nql," +
  "hj,te,ksi,g5,4,1,d3,9,zjx 3c:5z,k0,3i,w,31,39r,1o,6o,1,21,2ws,qg,1,77,1,ho,4x,nm6,js,hr7,6y,10,2r,b,ed,3wl,zk1 3d:4l,7j,4a,1,k,18,7q,e,34,w," +
  "2z,1,1,1,2eu,jm,k,1xr,ab,2p5,1,nr7,19q,h94,4c2,1k,h2f,ii3 3e:c5,1,32,1,2z,7a,371,1un,2c,qqu,1br,h9e,4ac,r,x,zka 3f:7sk,2c2o 3h:7sl 3i:6dv,dl" +
  ",8c,1du,qc,1 4j:6g4 4w:6qg,90,8,h3,r,1my,18dc 52:94v 53:3zb,jo,1tj,5,du,4s,298,ju,nf8,ho2 53.1g:46n 53.1o:404 53.1q:3zr,9,2vr 53.2q:41q,2 53" +
  ".2s:41m 53.2y:42g 53.30:43a 53.34:41i 53.39:40n 53.3a:3zu 53.53.53:6wf,21l 53.g5:3zw 53.pf:432 53.pg:3ym 53.11k:40p 53.3y9:3yk 53.3yc:3yo 53" +
  ".3yd:3yq 53.3ye:3ys 53.3yi:3yv 53.3yj:3yx 53.3zm:3zy 53.3zo:402 53.3zt:406 53.40f:40r 53.40g:40k,9 53.40h:40v 53.40l:40x 53.40m:40z 53.417:4" +
  "1g 53.41a:41k 53.41c:41o 53.421:42a 53.423:42c 53.424:42e 53.426:42i 53.428:42k 53.429:42m 53.42r:430 53.42u:434 53.42v:436 53.42w:438 53.42" +
  "z:43c 53.43k:43t 53.43m:4w6 53.43n:4w8 53.43o:4wa 53.43p:4wc 53.43r:43v 53.43s:43x 53.443:44c 53.445:44e 53.446:44g 53.447:44i 53.448:44k 53" +
  ".44a:44m 53.44b:44o 53.44t:452 53.44v:454 53.44w:456 53.44x:458 53.44y:45a 53.450:45c 53.451:45e 53.45s:45z 53.45t:461 53.45u:463 53.45v:465" +
  " 53.45w:467 53.45x:469 53.45y:46b 53.46g:46p 53.46h:46r 53.46i:46t 53.46j:46v 53.46l:46x 53.46m:46z 53.477:4we 53.47a:4wf 53.47b:4wg 53.47c:" +
  "4wh 53.47d:4wi 53.47f:4wj 53.47g:47i 53.47u:47v 53.487:488 53.4vl:4vn 53.4vo:4vq 53.4vs:4vt 53.4w0:4w2 66:s7,1eq5 67:qa,37i,23y,r2v,x 6v:7tj" +
  " 8o:qi,3k,2p,4,4to,32i,p41 at:uk,x1v,12k2 at.30:uj au:sd,5ty,py0,itk b2:6pv,27r,nnb b3:yg b4:100,2wr,1bg6,l64,jjo bs:rt,4zf,r35 bt:pv,60e,27" +
  "s bv:3wf c1:4dq,6,25v ci:7e2 d9:gp,hs d9.33:5qs,s31,1 d9.ke:gq dy:zu f1:ia,gf,2du,5hu,8,o7y fr:12t g2:xvi g5:pn,3k,4q,bn,40,2m1,4xy,nn2,dl,7" +
  "g,2,hwx,f7,l1p g5.53:3zx gb:5u8 gk:or,51x,vo,r7f,hl8 gk.2t:xuq gs:tz,2q,4tr gu:1feq gy:zx,2y6,txx hc:12y,2i1 hg:8t7 hj:1fen hk:qu,3i,7zb,1h," +
  "1 hq:5tf hr:6jt hs:xv5,1d hv:6qz,r36 i2:5tr i4:5rb,31s,16pt i5:u4,42,4sf,32k,p2m ib:8t9 ig:6u1,og,s7,nt,nwv,imz ih:tu,34a,4uf ii:x3x,ia5 ik:" +
  "u5,2u,11,2,7ut,p30 in:8up,p25,hhx ip:wy5 jr:wvy jt:7f8 jt.2q:ui jt.2q.30:wup jz:ol kq:l7,wez kr:x04 kz:9he pf:sz,3j,2zj,6s,4pr,1rpf pf.13:wg" +
  " pf.53:433 pg:3yb,2rn,9f,gq,1cj,62,163p,u,lfb,qug pg.53:3yn pg.3z4:3zg pq:7jk,1ae ps:tb,5ww,235,o57,13gr py:tg,8f,2jx,xc,4ai,16a1 q0:vk,3mw," +
  "4ba,169z,f0 q1:4dr,6,1apt qj:bf,8hn,ocl,idc qo:u7,4x5,321,1rmo qq:rf,81c qv:8tp,p0m,2 qw:vl,7y6,16q2 qx:705,4,1tk,o0s,a2 rb:8v8 rc:1f3h,2t s" +
  "c:8u9 sr:1fil t2:wm t4:om,7o,w0n,ih0,14o6 tj:ro tk:8u4 tm.30:wuo tp:6iw ty:wn u3:xy,4th uf:rp,1c5,1t ux:xuo v4:vw,30r,fc,2fqr v4.53:4x9 xi:y" +
  "3 xj:y4 xo:xq xv:1fi4 zi:2k1u 11k:3mo,dq,2qj,49,ppv,1nio 11k.13:414 11k.53:40q 11w:6gt,2df,14,160o 121:jj,k 12p:3o4 170:19o,7uu 17f:94l 17j:" +
  "94e 17l.1hiy:1dp 17s:1g1,9c,l 17t:1c3,5nm 17u:1a2,g5 17x:1a9,4,6l 17z:1ag,6,1,2n,cg,1df7 181:1ap,1,6,2f,3h,99 181.18p.30.18k:6gx 182:1pu 183" +
  ":184,96 185:1b2,ep,1dfn 187:1b3,1du1 189:173 18h:1bb 18j:1bd,1,3,52,9r 18k:1bp,2 18l:1pj 18l.1hiy:1dq 18m:1go,1,1g0t 18o:1c6,1,1,1,2,di,1df7" +
  " 18p:17v,i,2,b,10,b,5,1o,1,2,f,2,3,1,3k,4,8p,p,f,3,3,1,2 19e:1de,w65 19f:1df,2n6e 19g:1dg 19i:1di 19l:1dl,ha,1hml 1a3:1cg 1a8:1hhj 1ae:1q9 1" +
  "ai:1aj 1av:1gx 1b5:19r,1h,4,er,1 1b6:1pg 1bg:1gi 1bj:1bo,e4 1g4:1gn,8y 1s5:1s4,32,1 1s5.1tq:1s6,b,1,2,2o 1s5.1tq.1jz8:1sj 1s5.1u7:1v9 1s9:20" +
  "4 1sf:1sd,1 1sf.1jz8:1sg 1sv:1zz 1sw:200 1sy:20b 1t0.1t0:1zw 1t6:207 1t6.1sv:22a 1t6.1sv.1xb:1zb 1t6.1sv.20w:1zc 1t6.1sv.1jz8:1zj 1t9:20e 1t" +
  "a:20o 1tc.1s7:1s8 1th:1zp 1tl:20l 1tp:24d 1tq:1tn,e 1us:x80 1us.1us:1ut 1uw:240,1k 1uy:25m 1v2:25q 1v4:25s,5h8,1a8f,7g 1v5:2mm 1vn:1z7,e8,3k" +
  ",3k,3k,j9,1fgp 1vp.1xa:1vq 1vv:1y8,1 1w8:1imq 1wa:1ims 1wc:1imu 1we:1imw 1wf:1imx 1wh:1imz 1wj:1ine 1wk:1in2 1wl:1in3 1wm:1in4 1wn:1in5 1wo:" +
  "1in6 1wq:1in7 1ws:1ind 1wu:1inb 1wv:1inc 1ww:1yo,1gor 1wy:1in1 1x3:1inh 1x4:1ini 1x9:1io4 1xa:1ink 1xb:1tr,74,1gmq 1xj:1int 1xz:1inx 1yf:1io" +
  "h 1yg:1ioi 1yk:1iom 1z9:1zk,4 1z9.20u:1za 22b.1jz6:1zd 22b.1jz7:1ze 22t:231,2,1 22t.24e:22u,b,2,1 26d.27y:26e 287:375 29x:2cu 2a0:2b4,e 2a0." +
  "2bl:2cr 2a1:2co,81 2a1.2b7:2a2 2a1.2mv:2kq 2a6:2ct 2a6.2b9:2d3 2a8:2ak,ao 2ad:2cn 2ai:2cq 2ai.2bl:2cs 2ai.2bm:2cy 2an.2bj:2m2 2ar:2lf,2f 2aw" +
  ":2d6 2ax:2bs 2b2:2d0,8h 2b3:2cw 2b7:2c7 2b8:2lw 2b9:2l2 2ba:2bc,am 2bb:2d4 2bj:2m7,1 2bq:2me 2bq.2bq:2mg 2bq.2ku:2kw 2br:2mf 2cz:2d1 2dh:2h1" +
  " 2di:2h2 2dj:2h3 2dn:2g0 2do:2g1 2ds:2hc 2du:2dv,1,3i,1,1 2dz:2hj 2e4:2ho 2e5:2hp 2e6:2hq 2e7:2hr 2e9:2ea 2eb:2hv 2ee:2hy 2ef:2ed 2eg:2i0 2e" +
  "k:2el 2en:2i7 2eo:2e8,40 2ep:2i9 2eq:2ia 2er:2ib 2et:2ev,2 2et.2f5:2em 2f5:2f6,3j 2f7:2f8,3j 2fw:2jg 2g7:2jr 2g8:2js 2gf:2jz 2h8.2im:2jl 2hi" +
  ":2dy 2kn.2mv:2ko 2ky.2m6:2kz 2ky.2mv:2l0 2la:2n5 2li.2ls:2nf 2lk:2ks,d,2e,a,2 2lk.2lk:2ng 2lk.2lq:2my 2ls:2lt,1l,i,hy,3j,2f 2ls.370:35s 2ls." +
  "370.2ls.370:36r 2lu:2nx 2lv:2ny 2lx.2ls:2ni 2m1.2lq:2nq 2oh:2oi,z 2oh.2qh:2oj 2ok:2pl 2or:2pi 2ow:2ps 2oy:2qy 2pb:2qz 2pj:2pw 2pv.2qg:2od 2q" +
  "w:2r3 2qw.2q7:2qx 2rm:2rn 2ro:2s4,1 2rq:2sh 2rs:2vc 2ru:2rv 2ry:2rz 2s1:2s7 2sa:2vu 2sb:2vv 2sd:2vx 2se:2vy 2sf:2vz 2sg:2sm 2si:2vh 2sv:4pg " +
  "2sy:2th 2tc.2tc:2td 2tr:4pl 2u2:4ph 2u3:4pm 2z1.2z1:2z2 2ze.2ze:2zf 2ze.2zh:2zj 2zh.2ze:34e 2zh.2zh:2zi 31c.2z8:2yr 31c.327:2yq 31e:31m 31k:" +
  "2yo 35v:38w 36d:38m 36d.370:36n,28 36j:38h 36m.37g:36x 36m.37g.287.370:36y 37l:38l 37u.37u:37v 399:39a 39f:3a6 3cw:3hk 3cw.3cw:3cx,4o 3cw.3c" +
  "y:3ju 3cw.3cz:3fe 3cw.3d1:3ib 3cw.3d3:3jv 3cw.3d5:3hm 3cw.3d5.3cw:3ic 3cw.3da:3jw 3cw.3db:3jx 3cw.3de:3jy 3cy:3hn 3cy.3cw:3df,4y 3cy.3cy:3dg" +
  ",6j 3cy.3cz:3dh,4x 3cy.3d1:16mj 3cy.3d3:3di 3cy.3d5:3ff,30 3cy.3d8:3fg,28 3cy.3da:16mk 3cy.3dc:3ih 3cy.3de:3fh,28 3cy.3eo:3ig 3cy.3fy.ffs:mk" +
  "f 3cz:3hq 3cz.3cw:3dj,4z 3cz.3cz:3d0,139l 3cz.3cz.3d3:16mm 3cz.3d1:3fi,31 3cz.3d2:xgg 3cz.3d3:xgh,966 3cz.3d5:xgi,966 3cz.3d5.3cw:16mp 3cz.3" +
  "d8:xgj,967 3cz.3da:16mr 3cz.3dc:16ms 3d1:3hr 3d1.3cw:3hs,tys 3d1.3cw.3cw:xgl,968 3d1.3cw.3d5:3ik 3d1.3cw.3de:16mu 3d1.3cy:3dk,51 3d1.3cz:3im" +
  ",ty0 3d1.3cz.3cz:xgn 3d1.3cz.3de:3in 3d1.3d1:3dl,53 3d1.3d1.3db:16mv 3d1.3d2:3ht,tyv 3d1.3d2.3cw:3ip 3d1.3d2.3d5:3iq 3d1.3d2.3de:16mw 3d1.3d" +
  "3:3hu,tyv 3d1.3d3.3cz:16mx 3d1.3d3.3d3:xgq 3d1.3d3.3d5:3ir 3d1.3d3.3d7:3it,txy 3d1.3d3.3dd:16my 3d1.3d3.3de:3is 3d1.3d5:3hv,tyx 3d1.3d5.3d5:" +
  "3iu 3d1.3d7:3dn,139e 3d1.3d8:xgt 3d1.3db:3iw,txy 3d1.3dc:3hw 3d1.3dd:3hx 3d1.3de:3dm,x,3f,135o 3d1.3eo:3iv 3d1.3f0:16mz 3d1.3fd:3ix 3d1.3fd." +
  "3de:16n0 3d2:3hz 3d2.3cw:3iy,txx 3d2.3cy:16n2 3d2.3cy.3cy:16n3 3d2.3cz:xgw 3d2.3d1:3iz 3d2.3d2:16n4 3d2.3d3:3do,5c 3d2.3d3.3d5:16n5 3d2.3d5:" +
  "3j1,txw 3d2.3d5.3d5:3j2 3d2.3d7:3dp,5h 3d2.3d8:16n6 3d2.3da:3j4 3d2.3de:3j5 3d2.3eo:3j3 3d2.3fl:ggv 3d3:3i0 3d3.3cw:3dq 3d3.3cy:3dr 3d3.3cz:" +
  "3ds,139f 3d3.3d1:3j7 3d3.3d1.3dd:16n8 3d3.3d2:16n9 3d3.3d3:3d4,13a6 3d3.3d3.3d7:3e4 3d3.3d5:3dt,48 3d3.3d5.3cw:3du 3d3.3d5.3cz:3dv,139g 3d3." +
  "3d5.3d3:3dw 3d3.3d5.3d5:3dx 3d3.3d5.3d8:3dy 3d3.3d5.3dc:xgy 3d3.3d7:3e3,57 3d3.3d8:3dz,139d 3d3.3da:3e0,139d 3d3.3db:xgz 3d3.3dc:3e1 3d3.3dd" +
  ":3e2,56 3d3.3de:3j9,txr 3d5:3i2 3d5.3cw:3e5,56 3d5.3cy:3e6 3d5.3cz:3e7,55 3d5.3d1:3e8,55 3d5.3d2:3e9,1395 3d5.3d3:3ea,54 3d5.3d3.3cw:3eb 3d5" +
  ".3d3.3d7:16nf 3d5.3d5:3d6,4x 3d5.3d5.3cw:16ng 3d5.3d5.3cz:16nh 3d5.3d5.3d3:xh1 3d5.3d5.3d5:3ec 3d5.3d5.9oc:fff 3d5.3d7:3ed 3d5.3d8:3ee,1395 " +
  "3d5.3da:3ef,1395 3d5.3db:3eg 3d5.3dc:3eh,1394 3d5.3dd:3ei 3d5.3eo:16ni 3d5.9oc.3cw:fka 3d5.9oc.3d2:glk 3d7:3i4 3d7.3cw:3ep,4r 3d7.3cw.3cw:3j" +
  "h 3d7.3cz:3eq 3d7.3d1:xh2 3d7.3d2:3er 3d7.3d3:3es 3d7.3d5:3et,4s 3d7.3d7:3ev,4n 3d7.3d8:3ew 3d7.3da:3ex 3d7.3db:3jj 3d7.3dc:3ey 3d7.3dd:3ez " +
  "3d7.3de:xh3 3d7.3eo:3eu,4s 3d8:3i5 3d8.3d3:16nr 3d8.3d3.3d3:16ns 3d8.3d7:3f1 3d8.3d8:3d9,13ak 3d8.3d8.3de:xh4 3d8.3ft:ff9 3da:3i6 3da.3db:3f" +
  "6 3da.3de:3f7 3db:3i7 3dc:3i8 3dc.3dc:xh5 3dc.9oc.3cy.3d8:98x,k9y 3dd:3i9 3dd.3d3:3fa,4d 3dd.3d5:16nu 3dd.3d7:3fb,4d 3dd.3dc:16nv 3dd.3de:xh" +
  "6 3de:3ia 3de.3cy:3jp 3de.3d1:3jq 3de.3d2:3jr 3de.3d3:3js 3de.3d5:xh7 3de.3de:3fc 3ek.3ek:3el 3em.3em:3en 3eo:3jf 3eo.3d3:16nn 3eo.3d3.3d7:1" +
  "6no 3f0:3jk 3f0.3d2:16np 3f0.3de:16nq 3f2.3f2:3f3 3f4.3f4:3f5 3fd:3jt 3fd.3fd:xh8 3fl.3ft:3g6 3fl.3fy:3g7 3fl.9oc:3hf 3fl.ffs:3fm 3fn.3ft:3g" +
  "8 3fn.3fx:3g9 3fn.3fy:3hg 3fn.ffs:3fo 3fp.3ft:3ga 3fp.3fy:3gb 3fp.9oc:3gc 3fp.ffs:3fq 3fr.3fn:3hh 3fr.3ft:3gd 3fr.3fy:3ge 3fr.ffs:3fs 3ft.3f" +
  "l:3fu 3ft.3fl.ffs:3fv 3ft.3fn:3hi 3ft.3fn.ffs:3hj 3ft.3fp:3gf 3ft.3fp.ffs:3gg 3ft.3fr:16ls 3ft.3fr.ffs:3gh 3ft.3ft:3gi 3ft.3ft.ffs:16lt 3ft." +
  "3fy:3gj 3ft.ffs:3fw 3fx.3fl:16lu 3fx.3fl.ffs:16lv 3fx.3fn:3gk,2 3fx.3fn.ffs:3gl 3fx.3fp:16lw 3fx.3ft:3gn 3fx.ffs:3go 3fy.3fl:3gp 3fy.3fl.ffs" +
  ":3gq 3fy.3fp:3fz 3fy.3fp.9oc:3gr 3fy.3fp.ffs:3g0 3fy.3fr:16lx 3fy.3fr.ffs:3gs 3fy.3fy:3gt 3fy.ffs:3g1 3fy.ffs.ffs:16ly 3g2.3fl:3gu 3g2.3fl.f" +
  "fs:16lz 3g2.3fp:3gv 3g2.3fp.ffs:3gw 3g2.3fr:3gx 3g2.3fr.ffs:3gy 3g2.3ft:16m0 3g2.3fy:3gz 3g2.ffs:3h0 3ha.3fl:16md 3ha.3fp:3hb 3ha.3fp.ffs:16" +
  "me 3ha.3fy:3hc 3ha.3ha:3he 3ha.ffs:3hd 3k6:11g 3mp:11o 3ou:117 3s3:11m 3y9.53:3yl 3y9.3z4:3zf 3yc.53:3yp 3yd.53:3yr 3yd.3z4:3zh 3ye.53:3yt 3" +
  "yi.53:3yw 3yi.3z4:3zi 3yj.53:3yy 3z2.4wv:4wt 3z5:441 3zd:474 3zm.53:3zz 3zo.53:403 3zp:6zt 3zt.53:407 40f.53:40s 40g:6tf,2as 40g.13:415 40g." +
  "1b:7ux 40g.53:40u 40g.40l:8gn 40h.53:40w 40l:6te,2as 40l.13:416 40l.53:40y 40m.53:410 417.13:41x 417.53:41h 41a.53:41l 41c.53:41p 421:4cj 42" +
  "1.53:42b 423.53:42d 424.53:42f 426.53:42j 428:4ci 428.53:42l 429.53:42n 42r.53:431 42u.53:435 42v.53:437 42w.53:439 42z.53:43d 43k.53:43u 43" +
  "m.53:4w7 43n.53:4w9 43o.53:4wb 43p.53:4wd 43r.53:43w 43s.53:43y 443:4ck 443.53:44d 445.53:44f 446.53:44h 447.53:44j 448.53:44l 44a:4cn 44a.5" +
  "3:44n 44b.53:44p 44t.53:453 44v.53:455 44w.53:457 44x.53:459 44y.53:45b 450.53:45d 451.53:45f 45n.1o:45o 45n.2q:45q 45n.40l:45p 45n.428:45r " +
  "45s.53:460 45t.53:462 45u.53:464 45v.53:466 45w.53:468 45x.53:46a 45y.53:46c 46g.53:46q 46h.53:46s 46i.53:46u 46j.53:46w 46l.53:46y 46m.53:4" +
  "70 477:4de 477.53:4ww 47a:4df 47e:4dg 47g.53:47j 47k.2q:48z,1 47k.2s:48x 47k.34:48v 47k.417:4fj 47k.418:48u 47k.41a:48w 47k.41c:48y 47k.41v:" +
  "491 47u.53:47w 47y.53:4wz 486.53:4x0 487.53:489 48b.53:4x1 492.53:4x4 49h.2y:49d 49h.421:4fk 49h.422:49a 49h.423:49b 49h.424:49c 49h.426:49e" +
  " 49h.428:49f 49h.429:49g 49i.2y:4fn 49i.423:4fl 49i.424:4fm 49i.426:4fo 49i.428:4fp 49i.429:4fq 49j.53:4x6 49z.53:4fr 4a0.53:4fs 4a1.53:4ft " +
  "4a2.53:4fu 4a3.53:4fv 4a4.53:4fw 4a5.53:4fx 4b6:8ff 4b9:8fe 4bl:wl3 4c4.53:4xc 4d7.53:4xe 4f4:wkt 4hl:wxc 4ho:4ip 4hp:4hu,2il 4i3:2k3j 4i7:6" +
  "mp 4i8:6nz 4i8.4ii:86b 4i8.6o2:86m 4ii:6ny,1nn 4ik:6v8,46,h9,3,48,17hu,4df,17z1 4im:6vc,1g5 4iu:1fio 4iw:6mt 4j3:8yr 4k5:4l0 4ne:4nj 4o2:4o3" +
  " 4s5:4t1 4t8:4uu 4wv.3z2:4ws 4xh:4wr,s9i 526:53k 52p:53l 56t:58g,g 59k.59k:59l 59m.59k:59n 5b9:5bb 5cd:5ea 5ch:5eb 5d4:5eg 5e8:5ek 5em.5em:5" +
  "en 5kr.5kr:5ks 5mm.5mm:5mn 5q8:xve 5qd:xv4 5qf:xvg 5qi:xvf 5qm:on,5d,2b,1eiq 5qw:5rd,s5l 5qx:un 5qz:qs,3i,2z,7wa,p1n 61r:qc,ca,361,4me,9o 6g" +
  "o:9hu 6k2:4ad,sa1 6kk:2k2j 6n2:8oc 6n3:8od 6n4:8oe 6n5:8of 6nm:6np 6o3.4ii:86n 6o3.6o2:86d 6pu:6o,2od8,1 6px:6ww 6pz:6zm,9,1cfx 6q6:7ew,o 6q" +
  "8:8cf 6qo:2ojs 6qv:6v4 6r8:94b 6r9:94a 6rb:94c 6rs:1i3i 6rz:7ke,2jv4 6sh:6sj,21g 6tp:8ar 6tq:8as 6tr:2k3c 6ts:2k3d 6tv:8at 6tw:8au 6tz:8aq 6" +
  "u3:6zj 6u8:2rg1 6u9:2rf9 6uq:7gh 6ur:7g7 6va:6zn 6xe:7hc 6xl:8cd 6xw:6xx 6yj:893 6ym:7gu,s0 6yq:891 6yx:88g 6yz:72b 6z2:72a 6z9:729 6zx:72e " +
  "70o:7js 739:7g1 73v:73w 7b6:7b7 7bg:7bj 7bw:7c3 7f0:7f4 7fa:7fb 7fc:7fh 7fl:7io 7g6:7g8,2 7jb:8vd 7jd:2rd6 7jx:2qky,7 7jy:73y,2jh6 7sc:7vs,1" +
  "ls,1z,b0,2pl9 7sd:7vt,1ls 7vq:9i2 7vr:9i3 87u:89l 89r:2rei 8bj:8ce 8qn:xhu 8rv:8ss 8rw:8st 8rz:4as,2f0,pv3,1nhk 8s0:1fdr 8s5:og,37c,8,t1d 8s" +
  "6:xvk 8xs:1f3s 8xu:6e6,1tn,x0,2ab6 8yf:6e5,i9 9j0:6yp,1ab 9ko:9nc 9oc:3g3,2w1,1,yz,1,2j3,5kg,hrr 9oc.3fl:16m1 9oc.3fp:16m2 9oc.3fp.ffs:16m3 " +
  "9oc.3ft:16m4 9oc.3fy:3h1 9oc.9oc:3h2 9oc.ffs:3g4 9oc.ffs.3fy:3h3 aim:96z ako:dcr app:beb b96:97b bi9:jrd bmi:kc6 bp1:ph2 bp6:imo bp7:dgg bs3" +
  ":kx5 cop:vk3 cov:k83 dhf:kdi dyu:ra6 ffs:3g5,3l3,3,3,3,5,4,2sj ffs.3fl:3h4 ffs.3fn:3h5 ffs.3fn.3ft:16m5 ffs.3fn.ffs:16m6 ffs.3fr:16m7 ffs.3f" +
  "r.ffs:16m8 ffs.3ft:3h6 ffs.3ft.ffs:16m9 ffs.3fx:16ma ffs.3fy:3h7 ffs.3g2:16mb ffs.3ha:3h9 ffs.9oc:3h8 ffs.ffs:16mc ffw:97q fh5:9uo fh6:96r,n" +
  "w fh7:96q,no fi8:99u fid:9ui fik:9mz fjv:96t,f3 fp1:fsy ftw:fuk g1r:9pi,1qz0 g1s:972 g2z:9n3 g6t:2ues g76:96x gbf:9m3 ggd:34m ggg:34l ggh:3y" +
  "ht ggs:9mw gkj:9nx,7hm gur:gv3 h7j:hkb hgh:hgr hij:hkv hkn:2xbn hlh:9mn hlm:2xdz hwv:hz4 i76:974 i77:973 ibk:3tbu ijp:9m0 ik3:976 ild:ilu in" +
  "u:977 itt:978 ivu:30g5 ix0:97a jee:jeg jf0:97c jzp:97d k21:99n k4h:97f k7u:k89 kcs:peu kcv:pg0 kcw:pfu kcz:phd kd4:pif kdf:plz kfi:kjj kv1:k" +
  "yv l7z:99p l8a:97i lch:97k ldh:97l ldm:97m lmt:358g lu0:lzt m7g:97n mjv:97o mnh:97s mud:37jx npw:nrj ny3:97x o9o:99r oop:97z or9:os6 ouf:4dq" +
  "4 p5e:97v,7 p5f:981 paa:989 pds:98a ph8:pj5 prt:98e,1,1 q6l:qbj qif:qip qj2:98h qxw:98i r5r:98k r5s:98j r7l:98l ram:rct rk6:rkf rkw:98o rq4:" +
  "rqb rvf:3b2s rvh:98p ry7:rye s11:s1m s5z:s63 s8v:s9z sbq:98r sdy:98s,1 slq:sm6 t65:t66 tc5:98w tiw:98y tj3:98z tm0:990 tnh:98v,7 trr:trs tw2" +
  ":994 u06:995 u45:996 u6m:997 u72:998 u73:999 u74:99b uar:99c ui4:99e unw:99g uws:99h v9e:v9f vc6:99k vd0:99l vdd:vde vgw:99o vi7:99q vix:99s" +
  " vnu:wim vo0:wj0 vr4:wik vua:wiw w2h:wjj w4x:wji w5p:wic wbv:wjk wc5:wjm wcf:wje wci:wj4 wgo:wiv wk5:6ud,10d,p9r,1my3 wkk:x3y wko:6kh wl2:6k" +
  "i,18sv,l5h,jjj,m wuk:8ts,oau wuw:20ik,qud wvd:1fjf wz7.wz7:wz8 x0n:x3p x1a:sf x1b:ot x2x:x2y x3a:3a8 x3m:sk,5ns,2cc x3n:gr,9m,4f,59,5wj,3n,1" +
  "si,p3m,hhq,42t x5a:id,wmy x5f:x5e x5h:x5g x6j:4af,2fsp xdn:1i3g xdo:1i3f xi5:xib xjk:xja xkx:xn7 xlv:xna 1f3c:6tx,1gs,om1,1uha 1f3w:7gd,2clz" +
  ",7ao 1f40:89i 1f9e:1fbl 1f9v:1fbn 1fa2:1kxk 1fde:x3u 1fei:x3v 1fgm:1fhc 1ggu:7j9,1h3o 1gly.1gly:1glz 1h1e:1h4s 1h2d:1h4q 1ik4.1ij6:1ij7 1ik4" +
  ".1ijc:1ijd 1ik4.1ijn:1ijo 1ik4.1ijt:1iju 1ik4.1ijw:1ijx 1ik4.1ijy:1ijz 1ikr.1ikr:1iks 1ite:1ivs,1 1itf:1ivu 1itg:1ivv 1iyp.1iyp:1iyq 1jvp.1j" +
  "vp:1jvs 1jvp.1jvp.1jvz:1jvt 1jvp.1jvp.1jw0:1jvu 1jvp.1jvz:1jvq 1jvp.1jw0:1jvr 1jvv.1jvv:1jvx 1jvv.1jvv.1jvz:1jvy 1jvv.1jvz:1jvw 1jw3.1jvz:1j" +
  "w4 1jw3.1jw0:1jw5 1jw3.1jw3:1jw6 1jw3.1jw3.1jvz:1jw7 1jw3.1jw3.1jw0:1jw8 1k5d.1k5d:1k5e 20hs:6kj 20oj:g2a 2dk2:fim 2j22:2qrx 2j24:2qtf 2jei:" +
  "2qnr 2jej:2qqq 2jek:2qlv 2jel:2qmm,1 2jem:2qmq 2jen:2qmr 2jfk:83j 2jg0:88l 2jx4.2jxh:7l5 2jx4.2jxh.2jxq:7l6 2q6m:6nu 2rco:2j23 2rps:6o4 2rpt" +
  ":6oc 2s0l:7kn 2s0n:7kt 2sca:2qz8 2xm0:2xlz 33a7:3tby 37dg:3rnp 395l:395m 3d7s:3d7h 3eie:3eo6 3gz2:dxx 3tbz:j7c";
