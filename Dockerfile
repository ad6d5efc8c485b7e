# SPDX-License-Identifier: Apache-2.0
# An image with only the static program: docker run --rm -v "$PWD:/work" costmodel model.onnx
FROM debian:12 AS build
COPY . /source
WORKDIR /source
RUN tools/bootstrap packages && \
    cmake -S . -B build/image -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCOSTMODEL_STATIC=FULL && \
    cmake --build build/image --target costmodel_program && \
    cmake --install build/image --strip --component runtime --prefix /image

FROM scratch
COPY --from=build /image/bin/costmodel /costmodel
WORKDIR /work
ENTRYPOINT ["/costmodel"]
